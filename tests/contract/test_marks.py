"""The contract of `Marks`."""

from shared.ports import Mark
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import A_MOMENT, AN_HOUR, NOTHING, delta, until

RERUN, CANCEL = Mark.RERUN, Mark.CANCEL


@on_each_adapter
async def test_a_run_without_marks_reads_empty(ports: Ports) -> None:
    """A run nobody ever named has no marks."""
    assert await ports.marks.read("r") == frozenset()


@on_each_adapter
async def test_marks_are_read_as_set(ports: Ports) -> None:
    """Each mark that is set is read, once, however often it was set and read."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    assert await ports.marks.read("r") == {RERUN}
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.marks.set("r", CANCEL, AN_HOUR)
    assert await ports.marks.read("r") == {RERUN, CANCEL}
    assert await ports.marks.read("r") == {RERUN, CANCEL}


@on_each_adapter
async def test_clearing_removes_one_mark(ports: Ports) -> None:
    """Clearing a mark leaves the other; clearing it again, or in a run without marks, is fine."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.marks.set("r", CANCEL, AN_HOUR)
    await ports.marks.clear("r", RERUN)
    await ports.marks.clear("r", RERUN)
    await ports.marks.clear("unknown", CANCEL)
    assert await ports.marks.read("r") == {CANCEL}


@on_each_adapter
async def test_a_cleared_mark_can_be_set_again(ports: Ports) -> None:
    """A mark is set after it was cleared like the first time."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.marks.clear("r", RERUN)
    await ports.marks.set("r", RERUN, AN_HOUR)
    assert await ports.marks.read("r") == {RERUN}


@on_each_adapter
async def test_marks_belong_to_one_run(ports: Ports) -> None:
    """A mark of one run is not seen in another, not even in one whose id begins alike."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.marks.set("r1", CANCEL, AN_HOUR)
    assert await ports.marks.read("r") == {RERUN}
    assert await ports.marks.read("r1") == {CANCEL}


@on_each_adapter
async def test_a_mark_expires(ports: Ports) -> None:
    """A mark is gone after its time, the other one is not."""
    await ports.marks.set("r", RERUN, A_MOMENT)
    await ports.marks.set("r", CANCEL, AN_HOUR)

    async def rerun_is_gone() -> bool:
        return await ports.marks.read("r") == {CANCEL}

    await until(rerun_is_gone)


@on_each_adapter
async def test_setting_again_counts_the_time_anew(ports: Ports) -> None:
    """The last call decides how long a mark lives."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.marks.set("r", RERUN, A_MOMENT)

    async def rerun_is_gone() -> bool:
        return await ports.marks.read("r") == frozenset()

    await until(rerun_is_gone)


@on_each_adapter
async def test_a_mark_for_no_time_is_no_mark(ports: Ports) -> None:
    """A zero time to live leaves nothing set, also where the mark was set before."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.marks.set("r", RERUN, NOTHING)
    assert await ports.marks.read("r") == frozenset()


@on_each_adapter
async def test_appending_answers_the_marks(ports: Ports) -> None:
    """A writer learns the run's marks, and only its run's, from every append."""
    await ports.marks.set("other", CANCEL, AN_HOUR)
    assert await ports.output.append([delta("r", 0)], 1) == frozenset()
    await ports.marks.set("r", RERUN, AN_HOUR)
    assert await ports.output.append([delta("r", 1)], 1) == {RERUN}
    await ports.marks.set("r", CANCEL, AN_HOUR)
    assert await ports.output.append([delta("r", 2)], 1) == {RERUN, CANCEL}
    await ports.marks.clear("r", RERUN)
    assert await ports.output.append([delta("r", 3)], 1) == {CANCEL}


@on_each_adapter
async def test_marks_are_lost_with_the_service(ports: Ports) -> None:
    """A service that restarted empty knows no marks and takes new ones."""
    await ports.marks.set("r", RERUN, AN_HOUR)
    await ports.flush()
    assert await ports.marks.read("r") == frozenset()
    await ports.marks.set("r", CANCEL, AN_HOUR)
    assert await ports.marks.read("r") == {CANCEL}


@on_each_adapter
async def test_each_mark_is_told_from_the_others(ports: Ports) -> None:
    """Every set of marks is read as it is, by who asks and by who appends, down to the last one that is cleared."""
    marks = list(Mark)
    for mask in range(2 ** len(marks)):
        run_id, chosen = f"r{mask}", {mark for place, mark in enumerate(marks) if mask & 1 << place}
        for mark in chosen:
            await ports.marks.set(run_id, mark, AN_HOUR)
        while True:
            assert await ports.marks.read(run_id) == chosen
            assert await ports.output.append([delta(run_id, len(chosen))], 1) == chosen
            if not chosen:
                break
            await ports.marks.clear(run_id, chosen.pop())
