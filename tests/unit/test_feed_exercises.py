"""The feed around exercises that are not written right: it ends, it says so, and it shows nobody a traceback."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import pytest

from client.sse import ServerEvent
from shared.events import Event, decode_data
from shared.exercises import OrdererFactory
from tests.support.asking import ask, calling
from tests.support.houses import SOLUTION, STARTER, House, as_sent, delta, deltas, done, house, log
from tests.support.moved_loop import now, run, settle

T = TypeVar("T")

SHUFFLED = [delta(1), done(4), delta(0), delta(0), delta(3), delta(2)]


class Mute(Generic[T]):
    """Emits nothing."""

    def __init__(self, start: int, emit: Callable[[int, T], None]) -> None:
        pass

    def offer(self, seq: int, item: T, /) -> None:
        """Drop it."""


class Forgetful(Generic[T]):
    """Emits what is due and forgets what came too early."""

    def __init__(self, start: int, emit: Callable[[int, T], None]) -> None:
        self._due = start
        self._emit = emit

    def offer(self, seq: int, item: T, /) -> None:
        """Emit it if it is due."""
        if seq == self._due:
            self._due += 1
            self._emit(seq, item)


class Stillborn(Mute[T]):
    """Cannot be made."""

    def __init__(self, start: int, emit: Callable[[int, T], None]) -> None:
        raise ZeroDivisionError("a secret")


class Failing(Forgetful[T]):
    """Raises at the third number."""

    def offer(self, seq: int, item: T, /) -> None:
        """Emit it, or raise."""
        if seq == 2:
            raise ZeroDivisionError("a secret")
        super().offer(seq, item)


class Repeating(Forgetful[T]):
    """Emits everything twice."""

    def offer(self, seq: int, item: T, /) -> None:
        """Emit it twice."""
        self._emit(seq, item)
        self._emit(seq, item)


def with_orderer(orderer: OrdererFactory) -> House:
    """Build a gateway with this orderer and the solution's other exercises."""
    return house(replace(SOLUTION, SeqOrderer=orderer))


async def live(gateway: House, events: Sequence[Event]) -> list[ServerEvent]:
    """Return what a waiter gets of events that come one by one, up to the stream's end."""
    await gateway.streaming()
    async with calling(gateway.app, "GET", "/runs/r/events") as call:
        for event in events:
            await settle()
            await gateway.publish(event)
        return await call.events()


def code(event: ServerEvent) -> str:
    """Return the code of an error event."""
    assert event.event == "error"
    return str(decode_data(event.data)["code"])


def test_the_starters_orderer_shows_events_as_they_come() -> None:
    """What is emitted as it comes is sent as it comes, up to the terminal event, which closes the stream."""

    async def main() -> None:
        assert await live(house(STARTER), SHUFFLED) == as_sent(SHUFFLED[:2])

    run(main())


def test_the_starters_orderer_at_a_lost_end() -> None:
    """A run whose end is only in the store ends for the naive orderer too."""

    async def main() -> None:
        gateway = house(STARTER)
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            await settle()
            await gateway.write(*deltas(0, 3))
            assert await call.events(3) == as_sent(deltas(0, 3))
            await gateway.end([done(3)])
            assert (await call.events(), round(now())) == (as_sent([done(3)]), 15)

    run(main())


def test_an_orderer_that_emits_nothing_ends_in_an_error() -> None:
    """When everything has arrived and the end was not emitted, the connection ends with an error: live, replayed."""

    async def main() -> None:
        gateway = with_orderer(Mute)
        (error,) = await live(gateway, SHUFFLED)
        assert (code(error), now() < 1) == ("order", True)
        await gateway.end(log(5))
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            assert [code(event) for event in await call.events()] == ["order"]

    run(main())


def test_an_orderer_that_emits_nothing_of_a_run_that_goes_on() -> None:
    """While the run goes on its waiter gets heartbeats, and at its age the word to reconnect."""

    async def main() -> None:
        gateway = with_orderer(Mute)
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            await gateway.write(*deltas(0, 5))
            await call.chunk()
            assert (await call.chunk(), round(now())) == (b": ping\n", 15)
            assert [code(event) for event in await call.events()] == ["going_away"]

    run(main())


def test_an_orderer_that_forgets_ends_in_an_error() -> None:
    """What was emitted in order is sent; the hole that is left ends the connection, without a jump."""

    async def main() -> None:
        first, error = await live(with_orderer(Forgetful), SHUFFLED)
        assert ([first], code(error)) == (as_sent([delta(0)]), "order")

    run(main())


def test_an_orderer_that_repeats_does_not_outlive_the_end() -> None:
    """Nothing comes behind the terminal event, whatever is emitted."""

    async def main() -> None:
        events = log(2)
        assert await live(with_orderer(Repeating), events) == as_sent([events[0], events[0], events[1]])

    run(main())


def test_an_orderer_that_raises_while_live_is_told_as_an_error() -> None:
    """What was emitted before is sent, then an error that shows nothing of the inside."""

    async def main() -> None:
        *first, error = await live(with_orderer(Failing), deltas(0, 5))
        assert (first, code(error)) == (as_sent(deltas(0, 2)), "internal")
        assert "secret" not in error.data

    run(main())


@pytest.mark.parametrize("orderer", [Stillborn, Failing])
def test_an_orderer_that_raises_before_the_first_byte_is_a_problem(orderer: OrdererFactory) -> None:
    """What raises before anything was sent answers a problem document, not an empty stream (C6)."""

    async def main() -> None:
        gateway = with_orderer(orderer)
        await gateway.ended(log(5))
        answer = await ask(gateway.app, "GET", "/runs/r/events")
        problem = answer.problem()
        assert (answer.status, "secret" in f"{problem}") == (500, False)
        assert isinstance(answer.raised, ZeroDivisionError)

    run(main())


def test_an_emit_of_something_else_is_told_as_an_error() -> None:
    """An orderer that emits what it was not given ends the connection with an error."""

    class Emptying(Mute[T]):
        def __init__(self, start: int, emit: Callable[[int, T | None], None]) -> None:
            self._emit = emit

        def offer(self, seq: int, item: T, /) -> None:
            self._emit(seq, None)

    async def main() -> None:
        gateway = with_orderer(Emptying)  # type: ignore[arg-type]  # that is what is wrong with it
        assert [code(event) for event in await live(gateway, log(3))] == ["internal"]

    run(main())


def test_the_starters_arithmetic_begins_again() -> None:
    """With a rule that answers 0 to everything each connection is the whole run, also at its end."""

    async def main() -> None:
        gateway = house(STARTER)
        await gateway.ended(log(3))
        for cursor in (b"0", b"2", b"99"):
            async with calling(gateway.app, "GET", "/runs/r/events", [(b"last-event-id", cursor)]) as call:
                assert await call.events() == as_sent(log(3))

    run(main())


@pytest.mark.parametrize("answer", [None, "3", [], 2.5j])
def test_arithmetic_that_gives_no_number_is_a_problem(answer: object) -> None:
    """A rule that raises, or answers something that is no number, gives a problem document (C6)."""

    async def main() -> None:
        gateway = house(replace(SOLUTION, resume_from=lambda _: answer))  # type: ignore[arg-type, return-value]
        await gateway.ended(log(3))
        refused = await ask(gateway.app, "GET", "/runs/r/events")
        assert (refused.status, refused.problem()["status"]) == (500, 500)

    run(main())


def test_arithmetic_that_raises_is_a_problem() -> None:
    """A rule that raises gives a problem document (C6)."""

    async def main() -> None:
        gateway = house(replace(SOLUTION, resume_from=lambda text: int(text or "x")))
        await gateway.ended(log(3))
        assert (await ask(gateway.app, "GET", "/runs/r/events")).problem()["status"] == 500

    run(main())


@pytest.mark.parametrize("start", [-1, -7])
def test_arithmetic_below_the_beginning_ends_in_an_error(start: int) -> None:
    """A start before the first event is a hole that nothing fills: the connection ends with an error."""

    async def main() -> None:
        gateway = house(replace(SOLUTION, resume_from=lambda _: start))
        assert [code(event) for event in await live(gateway, log(3))] == ["missing"]

    run(main())


def test_arithmetic_beyond_all_numbers_is_a_gap() -> None:
    """A start of any size is a cursor that is not in this run's history."""

    async def main() -> None:
        gateway = house(replace(SOLUTION, resume_from=lambda _: 10**30))
        gap, *rest = await live(gateway, log(3))
        assert (gap.event, rest) == ("gap", as_sent(log(3)))

    run(main())
