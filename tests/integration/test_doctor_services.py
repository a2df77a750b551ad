"""The doctor beside services that are there."""

from selfcheck.doctor import kit
from selfcheck.doctor.remark import Health
from selfcheck.texts import english
from tests.support.real import real_urls


def test_services_that_answer_are_good() -> None:
    """Both, each for itself: what is wrong with one says nothing of the other. Nothing is made in them."""
    urls = real_urls()
    _, *remarks = kit.of_services({"REDIS_URL": urls.redis, "DATABASE_URL": urls.database})
    assert [(remark.health, english(remark.found)) for remark in remarks] == [(Health.GOOD, "answers and will do")] * 2
    _, *remarks = kit.of_services({"REDIS_URL": urls.redis, "DATABASE_URL": "postgresql://127.0.0.1:1/none"})
    assert [remark.health for remark in remarks] == [Health.GOOD, Health.BAD]
