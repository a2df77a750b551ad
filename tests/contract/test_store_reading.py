"""The contract of `Store`: logs and sessions, read in pieces."""

from shared.events import Event
from shared.ports import SessionPage
from shared.run import RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import AN_HOUR, BEGINNING, a_message, cancelled, delta, deltas, done, ended, opened, started


@on_each_adapter
async def test_events_are_read_from_a_seq_on(ports: Ports) -> None:
    """From `start` on, in order, up to the limit; nothing behind the end; nothing of an unknown run."""
    await ended(ports, "r", fragments=4)
    await ended(ports, "other", "s2")
    log = [*deltas("r", 0, 4), done("r", 4)]
    for start in range(6):
        for limit in range(1, 7):
            assert list(await ports.store.events("r", start, limit)) == log[start : start + limit]
    assert list(await ports.store.events("unknown", 0, 10)) == []


@on_each_adapter
async def test_events_are_in_the_order_of_their_seqs(ports: Ports) -> None:
    """However they were appended, they are read by number: 10 comes after 9."""
    await started(ports, "r")
    for event in reversed(deltas("r", 0, 12)):
        await ports.store.append("r", 1, [event])
    assert list(await ports.store.events("r", 0, 100)) == deltas("r", 0, 12)


@on_each_adapter
async def test_a_session_tells_its_messages(ports: Ports) -> None:
    """Messages come in the order of their acceptance with the run they went to, as they were answered first."""
    await started(ports, "r0")
    joined = await ports.store.join_run("r0", a_message(ports, "m"))
    await opened(ports, "r1")
    await opened(ports, "elsewhere", "s2")
    inputs = list(await ports.store.inputs_of("s"))
    assert [(accepted.message.id, accepted.run_id, accepted.merged, accepted.replayed) for accepted in inputs] == [
        ("m-r0", "r0", False, False),
        ("m", "r0", True, False),
        ("m-r1", "r1", False, False),
    ]
    assert inputs[1] == joined


@on_each_adapter
async def test_a_session_tells_its_runs(ports: Ports) -> None:
    """Runs come by ordinal, each as `run` returns it."""
    await ended(ports, "r0")
    await started(ports, "r1")
    await opened(ports, "r2")
    runs = list(await ports.store.runs_of("s"))
    assert runs == [await ports.store.run(run_id) for run_id in ["r0", "r1", "r2"]]
    assert [(stored.ordinal, stored.inputs, stored.last_seq) for stored in runs] == [
        (0, 1, 2),
        (1, 1, None),
        (2, 1, None),
    ]


async def history(ports: Ports) -> list[tuple[tuple[int, int], Event]]:
    """Make a session of four runs, the third without events, and return its events with their positions."""
    await ended(ports, "r0", fragments=2)
    await ended(ports, "r1", fragments=0)
    await started(ports, "r2")
    await ports.store.finish("r2", 1, RunStatus.RUNNING, RunStatus.FAILED, [], None, "gave up")
    await started(ports, "r3")
    await ports.store.append("r3", 1, deltas("r3", 0, 11))
    await ended(ports, "elsewhere", "s2")
    logs = [[*deltas("r0", 0, 2), done("r0", 2)], [done("r1", 0)], [], deltas("r3", 0, 11)]
    return [((ordinal, event.seq), event) for ordinal, log in enumerate(logs) for event in log]


@on_each_adapter
async def test_a_session_is_read_in_pages(ports: Ports) -> None:
    """Pages of any size, put together, are the whole history in order (ordinal, seq): nothing twice, no hole."""
    whole = await history(ports)
    for limit in [1, 2, 3, 4, 5, 14, 15, 16, 100]:
        found: list[Event] = []
        cursor, more = BEGINNING, True
        while more:
            page = await ports.store.session_events("s", cursor, limit)
            assert 0 < len(page.events) <= limit
            found.extend(page.events)
            cursor, more = page.cursor, page.more
            assert cursor == whole[len(found) - 1][0]
        assert found == [event for _, event in whole]


@on_each_adapter
async def test_a_page_begins_behind_any_position(ports: Ports) -> None:
    """From every position the rest follows, also from one that no event has."""
    whole = await history(ports)
    positions = [BEGINNING, *(position for position, _ in whole), (0, 99), (1, -1), (2, 0), (2, 5), (9, 0)]
    for after in positions:
        rest = [(position, event) for position, event in whole if position > after]
        page = await ports.store.session_events("s", after, 100)
        assert page.cursor == (rest[-1][0] if rest else after)
        assert (list(page.events), page.more) == ([event for _, event in rest], False)


@on_each_adapter
async def test_a_page_without_events_keeps_the_cursor(ports: Ports) -> None:
    """At the end, and in an unknown session, a page is empty and its cursor is the one asked with."""
    page = await ports.store.session_events("unknown", BEGINNING, 10)
    assert (list(page.events), page.cursor, page.more) == ([], BEGINNING, False)
    await opened(ports, "r")
    page = await ports.store.session_events("s", (0, 41), 10)
    assert (list(page.events), page.cursor, page.more) == ([], (0, 41), False)


@on_each_adapter
async def test_a_cursor_at_the_end_gets_what_comes_next(ports: Ports) -> None:
    """Who read everything and comes back gets only what was written meanwhile, in this run and in the next."""
    await started(ports, "r0")
    await ports.store.append("r0", 1, deltas("r0", 0, 2))
    page: SessionPage = await ports.store.session_events("s", BEGINNING, 10)
    await ports.store.append("r0", 1, [delta("r0", 2)])
    await ports.store.finish("r0", 1, RunStatus.RUNNING, RunStatus.DONE, [done("r0", 3)], None, "end")
    await ended(ports, "r1", fragments=1)
    page = await ports.store.session_events("s", page.cursor, 10)
    assert list(page.events) == [delta("r0", 2), done("r0", 3), *deltas("r1", 0, 1), done("r1", 1)]
    assert (page.cursor, page.more) == ((1, 1), False)


@on_each_adapter
async def test_a_page_ends_with_the_first_run_that_has_not_ended(ports: Ports) -> None:
    """What a later run has already, a cancel while it waited, is not told before all of the earlier run is."""
    await started(ports, "r0")
    await opened(ports, "r1")
    await opened(ports, "r2")
    await ports.store.append("r0", 1, deltas("r0", 0, 2))
    await ports.store.finish("r2", 0, RunStatus.PENDING, RunStatus.CANCELLED, [cancelled("r2", 0)], None, "stop")
    page = await ports.store.session_events("s", BEGINNING, 10)
    assert (list(page.events), page.cursor, page.more) == (deltas("r0", 0, 2), (0, 1), False)
    page = await ports.store.session_events("s", BEGINNING, 2)
    assert (list(page.events), page.cursor, page.more) == (deltas("r0", 0, 2), (0, 1), False)
    await ports.store.finish("r0", 1, RunStatus.RUNNING, RunStatus.DONE, [done("r0", 2)], None, "end")
    page = await ports.store.session_events("s", page.cursor, 10)
    assert (list(page.events), page.cursor, page.more) == ([done("r0", 2)], (0, 2), False)
    await ports.store.claim("w", AN_HOUR, "s")
    await ports.store.finish("r1", 1, RunStatus.RUNNING, RunStatus.DONE, [done("r1", 0)], None, "end")
    page = await ports.store.session_events("s", page.cursor, 10)
    assert (list(page.events), page.cursor, page.more) == ([done("r1", 0), cancelled("r2", 0)], (2, 0), False)


@on_each_adapter
async def test_a_cursor_behind_a_run_that_has_not_ended_waits(ports: Ports) -> None:
    """A position in a later run gets nothing, and is kept, until the earlier run has ended."""
    await opened(ports, "r0")
    await opened(ports, "r1")
    await ports.store.finish("r1", 0, RunStatus.PENDING, RunStatus.CANCELLED, [cancelled("r1", 0)], None, "stop")
    page = await ports.store.session_events("s", (1, -1), 10)
    assert (list(page.events), page.cursor, page.more) == ([], (1, -1), False)
    await ports.store.finish("r0", 0, RunStatus.PENDING, RunStatus.CANCELLED, [cancelled("r0", 0)], None, "stop")
    page = await ports.store.session_events("s", (1, -1), 10)
    assert (list(page.events), page.cursor, page.more) == ([cancelled("r1", 0)], (1, 0), False)
