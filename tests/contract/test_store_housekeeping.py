"""The contract of `Store`: archiving old logs, answering to pings, and closing."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from shared.errors import Unavailable
from shared.ports import Resumed, Store
from shared.run import RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import (
    AN_HOUR,
    BEGINNING,
    NOTHING,
    a_message,
    a_run,
    deltas,
    done,
    ended,
    opened,
    started,
)

LONG_AGO, FAR_AHEAD = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


@on_each_adapter
async def test_ended_runs_are_archivable_oldest_first(ports: Ports) -> None:
    """Ended runs of any status, in the order of their end, up to the limit; never pending or active ones."""
    assert list(await ports.store.archivable(FAR_AHEAD, 10)) == []
    await opened(ports, "pending", "s0")
    await started(ports, "active", "s1")
    for run_id in ["r0", "r1", "r2"]:
        await started(ports, run_id, run_id)
    for run_id, status in [("r1", RunStatus.DONE), ("r0", RunStatus.FAILED), ("r2", RunStatus.CANCELLED)]:
        ports.clock.advance(AN_HOUR)
        await ports.store.finish(run_id, 1, RunStatus.RUNNING, status, [done(run_id, 0)], None, "end")
    assert list(await ports.store.archivable(FAR_AHEAD, 10)) == ["r1", "r0", "r2"]
    assert list(await ports.store.archivable(FAR_AHEAD, 2)) == ["r1", "r0"]
    assert list(await ports.store.archivable(LONG_AGO, 10)) == []


@on_each_adapter
async def test_archivable_counts_from_the_end(ports: Ports) -> None:
    """A run is archivable for every time behind its last change, not for that time itself."""
    await ended(ports, "r")
    stored = await ports.store.run("r")
    assert stored is not None
    assert list(await ports.store.archivable(stored.run.updated_at, 10)) == []
    assert list(await ports.store.archivable(stored.run.updated_at + AN_HOUR, 10)) == ["r"]


@on_each_adapter
async def test_an_archived_run_keeps_its_text_and_its_last_event(ports: Ports) -> None:
    """The rows become one text, the terminal row stays, and so do status, last seq, messages and audit."""
    await ended(ports, "r", fragments=5)
    await ended(ports, "other", fragments=5)
    audit = list(await ports.audit("r"))
    assert await ports.store.archive("r", "the whole reply 🍵")
    assert list(await ports.store.events("r", 0, 100)) == [done("r", 5)]
    stored = await ports.store.run("r")
    assert stored is not None
    assert (stored.archived_text, stored.last_seq, stored.inputs) == ("the whole reply 🍵", 5, 1)
    assert stored.run.status is RunStatus.DONE
    assert list(await ports.audit("r")) == audit
    assert len(await ports.store.messages_of("r")) == 1
    assert len(await ports.store.events("other", 0, 100)) == 6


@on_each_adapter
async def test_a_run_is_archived_once(ports: Ports) -> None:
    """The second time is False and changes nothing, an empty text counts as one, and it is archivable no more."""
    await ended(ports, "r", "s0")
    await ended(ports, "next", "s1")
    assert await ports.store.archive("r", "")
    assert not await ports.store.archive("r", "another text")
    stored = await ports.store.run("r")
    assert stored is not None and stored.archived_text == ""
    assert list(await ports.store.archivable(FAR_AHEAD, 10)) == ["next"]


@on_each_adapter
async def test_a_run_that_has_not_ended_is_not_archived(ports: Ports) -> None:
    """A pending, an active and an unknown run are left as they are."""
    await opened(ports, "pending", "s0")
    await started(ports, "active", "s1")
    await ports.store.append("active", 1, deltas("active", 0, 3))
    for run_id in ["pending", "active", "unknown"]:
        assert not await ports.store.archive(run_id, "text")
    assert list(await ports.store.events("active", 0, 100)) == deltas("active", 0, 3)
    stored = await ports.store.run("active")
    assert stored is not None and stored.archived_text is None


@on_each_adapter
async def test_a_session_with_an_archived_run_is_read_in_pages(ports: Ports) -> None:
    """The terminal row stands for the run in the session's pages, at its old position."""
    await ended(ports, "r0", fragments=5)
    await ended(ports, "r1", fragments=1)
    await ports.store.archive("r0", "text")
    page = await ports.store.session_events("s", BEGINNING, 1)
    assert (list(page.events), page.cursor, page.more) == ([done("r0", 5)], (0, 5), True)
    page = await ports.store.session_events("s", page.cursor, 10)
    assert (list(page.events), page.cursor, page.more) == ([*deltas("r1", 0, 1), done("r1", 1)], (1, 1), False)


@on_each_adapter
async def test_an_open_store_answers(ports: Ports) -> None:
    """A ping of a store that is there returns."""
    await ports.store.ping()


@on_each_adapter
async def test_a_closed_store_is_away(ports: Ports) -> None:
    """After closing, every call raises Unavailable; closing again is fine."""
    run, message = a_run(ports, "r"), a_message(ports, "m")
    await ports.store.close()
    await ports.store.close()
    calls: list[Callable[[Store], Awaitable[object]]] = [
        lambda store: store.latest_run("s"),
        lambda store: store.open_run(run, message),
        lambda store: store.join_run("r", message),
        lambda store: store.find_message("s", "m"),
        lambda store: store.claim("w", AN_HOUR),
        lambda store: store.claim("w", AN_HOUR, "s"),
        lambda store: store.take_over("w", AN_HOUR),
        lambda store: store.renew("w", AN_HOUR),
        lambda store: store.release("r", 1, NOTHING, Resumed.RETRY),
        lambda store: store.messages_of("r"),
        lambda store: store.move("r", 1, RunStatus.RUNNING, RunStatus.STREAMING, "late"),
        lambda store: store.append("r", 1, deltas("r", 0, 1)),
        lambda store: store.finish("r", 1, RunStatus.RUNNING, RunStatus.DONE, [], None, "late"),
        lambda store: store.ask_cancel("r"),
        lambda store: store.waiting_sessions(1),
        lambda store: store.run("r"),
        lambda store: store.events("r", 0, 1),
        lambda store: store.runs_of("s"),
        lambda store: store.inputs_of("s"),
        lambda store: store.session_events("s", BEGINNING, 1),
        lambda store: store.archivable(FAR_AHEAD, 1),
        lambda store: store.archive("r", "text"),
        lambda store: store.ping(),
    ]
    for call in calls:
        with pytest.raises(Unavailable) as away:
            await call(ports.store)
        assert away.value.service == "store"
