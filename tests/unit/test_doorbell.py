"""The doorbell, and what it knows about the bus."""

from datetime import datetime, timedelta

import pytest

from gateway.doorbell import BELL_TTL, Doorbell, bell_of
from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream
from shared.errors import Unavailable
from shared.events import Event, EventKind
from shared.ports import Accepted, Mark, Message
from shared.run import RunStatus
from tests.support.asking import Answer, ask
from tests.support.houses import House, house
from tests.support.moved_loop import pass_time, run

NOON = datetime.fromisoformat("2026-01-01T12:00:00+00:00")


def accepted(merged: bool) -> Accepted:
    """Return the answer to a message of session "s", run "r"."""
    status = RunStatus.STREAMING if merged else RunStatus.PENDING
    return Accepted(Message("m", "s", "u", "hello", NOON), "r", merged, status, replayed=False)


class Bell:
    """A doorbell and the bus behind it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.bus = MemoryBus(seconds=lambda: self.now)
        self.queue = MemoryInputQueue(self.bus)
        self.marks = MemoryMarks(self.bus)
        self.output = MemoryOutputStream(self.bus)
        self.bell = Doorbell(self.queue, self.marks, self.output)

    async def deaf(self) -> bool:
        """Whether the bell says that nobody can be told."""
        try:
            await self.bell.check()
        except Unavailable:
            return True
        return False


def test_a_new_run_rings_for_its_session() -> None:
    """A message that opened a run puts its session on the queue, and sets no mark."""

    async def main() -> None:
        bell = Bell()
        await bell.bell.ring(accepted(merged=False))
        (delivery,) = await bell.queue.take("w", 2, timedelta(0))
        assert (delivery.session_id, await bell.marks.read("r")) == ("s", frozenset())

    run(main())


def test_a_new_run_rings_for_its_sessions_lines() -> None:
    """Whoever follows the session's bell, in whichever gateway, hears of it; what is rung goes away by itself."""

    async def main() -> None:
        bell = Bell()
        await bell.bell.ring(accepted(merged=False))
        await bell.bell.ring(accepted(merged=False))
        assert await bell.output.entries("line:s") == [Event("line:s", 0, EventKind.RING, "{}")] * 2
        assert bell_of("s") == "line:s"
        bell.now += BELL_TTL.total_seconds()
        assert await bell.output.entries("line:s") == []
        assert len(bell.bus.fences) == 0

    run(main())


def test_an_answer_marks_its_run() -> None:
    """An answer to a question sets the mark of its run."""

    async def main() -> None:
        bell = Bell()
        await bell.bell.answered("r")
        assert await bell.marks.read("r") == {Mark.ANSWER}

    run(main())


def test_a_merged_message_marks_its_run() -> None:
    """A message that joined a run sets that run's mark, and rings for nobody else."""

    async def main() -> None:
        bell = Bell()
        await bell.bell.ring(accepted(merged=True))
        assert (await bell.queue.depth(), await bell.marks.read("r")) == (0, frozenset({Mark.RERUN}))
        assert await bell.output.entries("line:s") == []

    run(main())


def test_a_stop_marks_its_run() -> None:
    """A cancel sets the mark of its run."""

    async def main() -> None:
        bell = Bell()
        await bell.bell.stop("r")
        assert await bell.marks.read("r") == {Mark.CANCEL}

    run(main())


@pytest.mark.parametrize("merged", [False, True])
def test_a_ring_that_fails_is_remembered_for_a_second(merged: bool) -> None:
    """The first failure is nobody's error; for a second nobody is asked again; then the bus is, once per check."""

    async def main() -> None:
        bell = Bell()
        assert not await bell.deaf()
        bell.bus.away(True)
        assert not await bell.deaf()
        await bell.bell.ring(accepted(merged))
        bell.bus.away(False)
        await pass_time(0.9)
        assert await bell.deaf()
        await pass_time(0.2)
        assert not await bell.deaf()

    run(main())


def test_a_bus_that_stays_away_stays_known() -> None:
    """When the bus is asked again and is still away, that is remembered for another second."""

    async def main() -> None:
        bell = Bell()
        bell.bus.away(True)
        await bell.bell.stop("r")
        for _ in range(5):
            await pass_time(1.1)
            assert await bell.deaf()
        bell.bus.away(False)
        assert await bell.deaf()
        await pass_time(1.1)
        assert not await bell.deaf()

    run(main())


def test_a_bus_that_is_back_is_not_asked_again() -> None:
    """Once it has answered the bus is taken at its word until it fails again: a message costs no question."""

    async def main() -> None:
        bell = Bell()
        bell.bus.away(True)
        await bell.bell.stop("r")
        bell.bus.away(False)
        await pass_time(1.1)
        assert not await bell.deaf()
        bell.bus.away(True)
        assert not await bell.deaf()

    run(main())


def test_a_ring_that_gets_through_ends_the_outage() -> None:
    """Whoever reaches the bus within that second has proved that it is back."""

    async def main() -> None:
        bell = Bell()
        bell.bus.away(True)
        await bell.bell.stop("r")
        bell.bus.away(False)
        await bell.bell.stop("q")
        assert not await bell.deaf()

    run(main())


# --- as a caller sees it ----------------------------------------------------------------------------------------------


async def send(gateway: House, message_id: str, text: str = "hello") -> Answer:
    """Send a message of session "s"."""
    body = f'{{"session_id":"s","message_id":"{message_id}","text":"{text}"}}'
    return await ask(gateway.app, "POST", "/chat", body=body.encode())


async def stored(gateway: House) -> list[str]:
    """Return the ids of the messages that were stored."""
    return [each.message.id for each in await gateway.store.inputs_of("s")]


def test_a_message_is_refused_while_the_bus_is_known_to_be_away() -> None:
    """The message under which the bus fails is accepted; the next is refused before anything is stored."""

    async def main() -> None:
        gateway = house()
        gateway.bus.away(True)
        assert (await send(gateway, "first")).status == 202
        refused = await send(gateway, "second")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert str(refused.problem()["detail"]).startswith("the bus is away")
        assert await stored(gateway) == ["first"]
        gateway.bus.away(False)
        await pass_time(1.1)
        assert (await send(gateway, "second")).status == 202
        assert (await stored(gateway), await gateway.queue.depth()) == (["first", "second"], 1)

    run(main())


def test_what_was_accepted_is_answered_while_the_bus_is_away() -> None:
    """A message sent again gets its first answer, outage or not; with another text it is still a mistake."""

    async def main() -> None:
        gateway = house()
        gateway.bus.away(True)
        first = await send(gateway, "first")
        again = await send(gateway, "first")
        assert (again.status, again.headers["idempotency-replayed"], again.body) == (202, "true", first.body)
        assert (await send(gateway, "first", "other")).status == 422
        gateway.store.away(True)
        assert (await send(gateway, "first")).status == 503

    run(main())


def test_what_is_wrong_is_told_while_the_bus_is_away() -> None:
    """A caller's mistake is told as such: coming again later would not mend it."""

    async def main() -> None:
        gateway = house()
        gateway.bus.away(True)
        await send(gateway, "first")
        assert (await send(gateway, "x" * 129)).status == 422

    run(main())
