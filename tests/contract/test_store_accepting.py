"""The contract of `Store`: opening runs, joining them, and messages that come twice."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from shared.ports import Accepted, Message, StoredRun
from shared.run import Run, RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import AN_HOUR, a_message, a_run, ended, opened, started


@on_each_adapter
async def test_a_run_is_opened_with_its_message(ports: Ports) -> None:
    """Opening answers the message and stores a pending run, ordinal 0, one input, no event."""
    run, message = a_run(ports, "r"), a_message(ports, "m")
    accepted = await ports.store.open_run(run, message)
    assert accepted == Accepted(message, "r", merged=False, status=RunStatus.PENDING, replayed=False)
    assert await ports.store.run("r") == StoredRun(run, 0, 1, None, cancel_asked=False, archived_text=None)
    assert list(await ports.store.messages_of("r")) == [message]


@on_each_adapter
async def test_runs_of_a_session_are_numbered_without_holes(ports: Ports) -> None:
    """Ordinals count the session's runs from 0; another session counts its own."""
    await opened(ports, "r0")
    await opened(ports, "other", "s2")
    await opened(ports, "r1")
    await ports.store.open_run(a_run(ports, "never"), a_message(ports, "m-r1"))
    await opened(ports, "r2")
    stored = await ports.store.runs_of("s")
    assert [(run.run.id, run.ordinal) for run in stored] == [("r0", 0), ("r1", 1), ("r2", 2)]
    latest, other = await ports.store.latest_run("s"), await ports.store.latest_run("s2")
    assert latest is not None and latest == stored[2]
    assert other is not None and (other.run.id, other.ordinal) == ("other", 0)


@on_each_adapter
async def test_a_message_comes_back_as_it_was_sent(ports: Ports) -> None:
    """Texts, traces and times come back unchanged, whatever they are; a time may be in any zone."""
    texts = ["🍵 é \u2028 \x85 \r\n\t", "'; DROP TABLE runs; --", "%s {} \\", "x" * 8000]
    zoned = datetime(2026, 3, 4, 5, 6, 7, 890123, tzinfo=timezone(timedelta(hours=8)))
    messages = [Message(f"m{n}", "s", "ü", text, zoned, trace=f"{n}" * n) for n, text in enumerate(texts)]
    run = replace(a_run(ports, "r"), created_at=zoned, user_id="ü")
    await ports.store.open_run(run, messages[0])
    await ports.store.claim("w", AN_HOUR)
    for message in messages[1:]:
        await ports.store.join_run("r", message)
    assert list(await ports.store.messages_of("r")) == messages
    assert [accepted.message for accepted in await ports.store.inputs_of("s")] == messages
    found = [await ports.store.find_message("s", message.id) for message in messages]
    assert [accepted.message for accepted in found if accepted is not None] == messages
    stored = await ports.store.run("r")
    assert stored is not None
    assert (stored.run.created_at, stored.run.user_id, stored.run.created_at.tzinfo is None) == (zoned, "ü", False)


@on_each_adapter
async def test_a_message_id_that_comes_again_gets_the_first_answer(ports: Ports) -> None:
    """The second call inserts neither run nor message; its answer is the first one's, with what was stored then."""
    message = a_message(ports, "m")
    first = await ports.store.open_run(a_run(ports, "r"), message)
    again = await ports.store.open_run(a_run(ports, "never"), a_message(ports, "m", text="something else"))
    assert again == replace(first, replayed=True)
    assert again.message == message
    assert await ports.store.run("never") is None
    assert list(await ports.store.inputs_of("s")) == [first]


@on_each_adapter
async def test_the_first_answer_does_not_age(ports: Ports) -> None:
    """A replay tells the status of then, not of now, whichever call it is asked through."""
    first = await ports.store.open_run(a_run(ports, "r"), a_message(ports, "m"))
    await ports.store.claim("w", AN_HOUR)
    await ports.store.finish("r", 1, RunStatus.RUNNING, RunStatus.FAILED, [], None, "end")
    replayed = replace(first, replayed=True)
    assert await ports.store.find_message("s", "m") == replayed
    assert await ports.store.open_run(a_run(ports, "never"), a_message(ports, "m")) == replayed
    assert await ports.store.join_run("r", a_message(ports, "m")) == replayed


@on_each_adapter
async def test_message_ids_belong_to_their_session(ports: Ports) -> None:
    """The same id in another session is another message."""
    one = await ports.store.open_run(a_run(ports, "r1", "s1"), a_message(ports, "m", "s1"))
    two = await ports.store.open_run(a_run(ports, "r2", "s2"), a_message(ports, "m", "s2"))
    assert (one.replayed, two.replayed) == (False, False)
    assert await ports.store.find_message("s1", "m") == replace(one, replayed=True)
    assert await ports.store.find_message("s2", "m") == replace(two, replayed=True)


@on_each_adapter
async def test_the_same_message_at_once_is_one_input(ports: Ports) -> None:
    """Of twenty calls with one message id one inserts, and all get its answer (W7)."""
    pairs = [(a_run(ports, f"r{place}"), a_message(ports, "m")) for place in range(20)]
    answers = await asyncio.gather(*(ports.store.open_run(run, message) for run, message in pairs))
    runs = await ports.store.runs_of("s")
    assert len(runs) == 1
    assert {answer.run_id for answer in answers} == {runs[0].run.id}
    assert len({answer.message for answer in answers}) == 1
    assert [answer.replayed for answer in answers].count(False) == 1
    assert [accepted.message for accepted in await ports.store.inputs_of("s")] == [answers[0].message]


@on_each_adapter
async def test_runs_opened_at_once_are_numbered_without_holes(ports: Ports) -> None:
    """Twenty messages at once open twenty runs, with twenty ordinals."""
    pairs = [(a_run(ports, f"r{place:02}"), a_message(ports, f"m{place}")) for place in range(20)]
    await asyncio.gather(*(ports.store.open_run(run, message) for run, message in pairs))
    runs = await ports.store.runs_of("s")
    assert [run.ordinal for run in runs] == list(range(20))
    assert sorted(run.run.id for run in runs) == [f"r{place:02}" for place in range(20)]


@on_each_adapter
async def test_a_message_joins_an_active_run(ports: Ports) -> None:
    """Joining answers `merged` with the run's status, running or streaming, and counts as one more input."""
    await started(ports, "r")
    second, third = a_message(ports, "m2"), a_message(ports, "m3")
    joined = await ports.store.join_run("r", second)
    assert joined == Accepted(second, "r", merged=True, status=RunStatus.RUNNING, replayed=False)
    assert await ports.store.move("r", 1, RunStatus.RUNNING, RunStatus.STREAMING, "first fragment")
    joined = await ports.store.join_run("r", third)
    assert joined == Accepted(third, "r", merged=True, status=RunStatus.STREAMING, replayed=False)
    stored = await ports.store.run("r")
    assert stored is not None and stored.inputs == 3
    assert [message.id for message in await ports.store.messages_of("r")] == ["m-r", "m2", "m3"]


@on_each_adapter
async def test_nothing_joins_a_run_that_is_not_active(ports: Ports) -> None:
    """An unknown, a pending and an ended run take no message, and nothing is inserted."""
    await ended(ports, "ended")
    await opened(ports, "pending")
    message = a_message(ports, "m")
    for run_id in ["unknown", "pending", "ended"]:
        assert await ports.store.join_run(run_id, message) is None
    assert await ports.store.find_message("s", "m") is None
    assert [stored.inputs for stored in await ports.store.runs_of("s")] == [1, 1]


@on_each_adapter
async def test_nothing_joins_a_run_that_shall_stop(ports: Ports) -> None:
    """A run whose cancel was asked takes no more messages, though it is active still."""
    await started(ports, "r")
    await ports.store.ask_cancel("r")
    assert await ports.store.join_run("r", a_message(ports, "m")) is None
    assert await ports.store.find_message("s", "m") is None


@on_each_adapter
async def test_a_message_that_merged_is_replayed_as_merged(ports: Ports) -> None:
    """The first answer to a merged message is `merged`, also when it comes again as one that would open a run."""
    await started(ports, "r")
    joined = await ports.store.join_run("r", a_message(ports, "m"))
    assert joined is not None
    replayed = replace(joined, replayed=True)
    assert await ports.store.join_run("r", a_message(ports, "m")) == replayed
    assert await ports.store.join_run("unknown", a_message(ports, "m")) == replayed
    assert await ports.store.open_run(a_run(ports, "never"), a_message(ports, "m")) == replayed
    stored = await ports.store.run("r")
    assert stored is not None and stored.inputs == 2


@on_each_adapter
async def test_the_same_message_joins_once(ports: Ports) -> None:
    """Of twenty calls that join one message at once, one inserts it (W7)."""
    await started(ports, "r")
    messages = [a_message(ports, "m") for _ in range(20)]
    answers = await asyncio.gather(*(ports.store.join_run("r", message) for message in messages))
    assert [answer is not None and answer.replayed for answer in answers].count(False) == 1
    assert [message.id for message in await ports.store.messages_of("r")] == ["m-r", "m"]


@on_each_adapter
async def test_a_message_that_joins_while_the_run_ends_is_never_lost(ports: Ports) -> None:
    """Joining and ending at once: either the message is in and the end is put off, or it is not in (W6)."""
    for place in range(10):
        run_id, session_id = f"r{place}", f"s{place}"
        await started(ports, run_id, session_id)
        message = a_message(ports, "late", session_id)
        joined, ending = await asyncio.gather(
            ports.store.join_run(run_id, message),
            ports.store.finish(run_id, 1, RunStatus.RUNNING, RunStatus.DONE, [], 1, "end"),
        )
        stored = await ports.store.run(run_id)
        assert stored is not None
        is_in, has_ended = stored.inputs == 2, stored.run.status is RunStatus.DONE
        assert (is_in, has_ended) in [(True, False), (False, True)]
        assert (joined is not None, ending.name) == (is_in, "ENDED" if has_ended else "UNREAD")


@on_each_adapter
async def test_an_unknown_session_is_empty(ports: Ports) -> None:
    """Sessions need no creation: one that nobody used has no runs, no messages, no latest run."""
    assert await ports.store.latest_run("s") is None
    assert await ports.store.find_message("s", "m") is None
    assert list(await ports.store.runs_of("s")) == []
    assert list(await ports.store.inputs_of("s")) == []
    assert await ports.store.run("r") is None
    assert list(await ports.store.messages_of("r")) == []


@on_each_adapter
async def test_times_are_aware(ports: Ports) -> None:
    """Every time that comes back has a zone and is the same instant as the one given."""
    run = Run("r", "s", "u", RunStatus.PENDING, 0, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))
    await ports.store.open_run(run, a_message(ports, "m"))
    stored = await ports.store.run("r")
    assert stored is not None and stored.run == run
    assert stored.run.created_at.utcoffset() is not None and stored.run.updated_at.utcoffset() is not None
