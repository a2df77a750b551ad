"""A session's line: all its runs in order, each event once, from any cursor; and what else travels on it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from gateway.bootstrap import build
from gateway.frames import Frame as Held
from gateway.hub import Channel
from shared.adapters.memory import MemoryBus, MemoryOutputStream, MemoryStore
from shared.bootstrap import Ports
from shared.events import TERMINAL, Event, EventKind, Json, encode_data
from shared.ports import StoredRun
from tests.support.asking import ask, calling
from tests.support.houses import SETTINGS, SOLUTION, STARTER, House, delta, deltas, done, house, log, rerun
from tests.support.lines import Frame, brief, full_log
from tests.support.moved_loop import now, pass_time, run, settle
from tests.support.notes import noting
from tests.support.socketing import opening


class Followed(MemoryOutputStream):
    """Knows what was followed, and what is."""

    def __init__(self, bus: MemoryBus) -> None:
        super().__init__(bus)
        self.followed: list[str] = []
        self.following: list[str] = []

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow."""
        self.followed.append(run_id)
        self.following.append(run_id)
        try:
            async for events in super().follow(run_id):
                yield events
        finally:
            self.following.remove(run_id)


def at(cursor: str, session_id: str = "s") -> str:
    """Return the address of a session's socket from a cursor on."""
    return f"/sessions/{session_id}/socket?cursor={cursor}"


def told(frames: Sequence[Frame]) -> list[tuple[str, str | None, str | None]]:
    """Return what tells frames from others."""
    return [brief(frame) for frame in frames]


def timeless(frames: Sequence[Frame]) -> list[Frame]:
    """Return frames without the time at which they were sent."""
    return [{name: value for name, value in frame.items() if name != "at"} for frame in frames]


def as_told(ordinal: int, events: Sequence[Event]) -> list[tuple[str, str | None, str | None]]:
    """Return a run of a session as it comes on a line: that it is next, and its events."""
    run_id = events[0].run_id
    logged = ((event.kind.value, f"{ordinal}-{event.seq}", run_id) for event in events)
    return [("run_started", f"{ordinal}-", run_id), *logged]


async def send(gateway: House, text: str = "hello", **fields: str) -> str:
    """Send a message of session "s"; return the run it went to."""
    body = msgspec.json.encode({"session_id": "s", "text": text, **fields})
    return str((await ask(gateway.app, "POST", "/chat", body=body)).json()["run_id"])


async def beside(gateway: House) -> House:
    """Return a second gateway on the same store and bus."""
    ports = Ports(gateway.store, gateway.output, gateway.queue, gateway.marks, gateway.store, gateway.store)
    second, feeds = build(ports, SOLUTION, gateway.clock, SETTINGS)
    return replace(gateway, feeds=feeds, app=second.app())


async def eventful() -> tuple[House, list[tuple[str, str | None, str | None]]]:
    """Return a session that has seen a lot, and its line: done, cancelled while it waited, failed, interrupted."""
    gateway = house()
    await gateway.ended(full_log("a"))
    await gateway.streaming("b")
    await gateway.run("c")
    await ask(gateway.app, "POST", "/runs/c/cancel")
    waited = [Event("c", 0, EventKind.CANCELLED, encode_data({"reason": "by the user"}))]
    failed = [delta(0, run_id="b"), Event("b", 1, EventKind.FAILED, encode_data({"error": "the model is away"}))]
    await gateway.write(*failed[:1])
    await gateway.end(failed)
    stopped = [*deltas(0, 2, "d"), Event("d", 2, EventKind.CANCELLED, encode_data({"reason": "by the user"}))]
    await gateway.ended(stopped)
    runs = (full_log("a"), failed, waited, stopped)
    return gateway, [told for ordinal, events in enumerate(runs) for told in as_told(ordinal, events)]


# --- connect first ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batches", [True, False])
def test_a_line_is_there_before_anything_is_sent(batches: bool) -> None:
    """Ready comes at once, with the beginning as its cursor; then each run as it is opened, and all of its events."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app, batches=batches) as socket:
            ready = await socket.frame()
            assert (ready["type"], ready["kind"], ready["cursor"]) == ("ready", "session_opened", "")
            assert ready["data"] == {"session_id": "s", "ping_every_s": 15.0, "pong_wait_s": 10.0}
            run_id = await send(gateway)
            assert brief(await socket.frame()) == ("run_started", "0-", run_id)
            assert await gateway.store.claim("w", timedelta(hours=1), "s") is not None
            await gateway.publish(delta(0, run_id=run_id))
            assert brief(await socket.frame()) == ("delta", "0-0", run_id)
            assert now() == 0, "nothing of this waited for a ping"

    run(main())


def test_a_line_outlives_its_runs() -> None:
    """One run after the other comes on it, in their order, the second while it still waits for the first."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket:
            await socket.frame()
            await gateway.streaming("a")
            await gateway.run("b")
            await gateway.write(*deltas(0, 2, "a"))
            assert told(await socket.next(3)) == as_told(0, deltas(0, 2, "a"))
            await gateway.end(log(3, "a"))
            await gateway.publish(done(2, "a"))
            assert told(await socket.next(2)) == [("done", "0-2", "a"), ("run_started", "1-", "b")]
            assert await gateway.store.claim("w", timedelta(hours=1), "s") is not None
            await gateway.publish(delta(0, run_id="b"))
            assert told(await socket.next(1)) == [("delta", "1-0", "b")]

    run(main())


def test_a_cancel_while_waiting_comes_when_it_is_its_turn() -> None:
    """A run that was cancelled before any worker had it is behind the one that it waited for, not before its end."""

    async def main() -> None:
        gateway, expected = await eventful()
        async with opening(gateway.app) as socket:
            await socket.frame()
            assert told(await socket.next(len(expected))) == expected
            assert now() == 0, "what is there already waits for no ping"

    run(main())


def test_another_gateways_message_is_heard_at_once() -> None:
    """Whichever gateway accepts a message: the bell is on the bus, and every line of the session hears it."""

    async def main() -> None:
        gateway = house()
        other = await beside(gateway)
        async with opening(gateway.app) as socket:
            await socket.frame()
            run_id = await send(other)
            assert brief(await socket.frame()) == ("run_started", "0-", run_id)
            assert now() == 0

    run(main())


def test_a_lost_ring_costs_a_ping_and_no_event() -> None:
    """With the bus away nothing is rung: a line looks with its next ping."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket:
            await socket.frame()
            await settle()
            await gateway.ended(log(2))
            frames = await socket.next(3)
            assert (told(frames), now()) == (as_told(0, log(2)), 15.0)

    run(main())


def test_a_gateways_own_lines_need_no_bus() -> None:
    """What a gateway has accepted itself, its own lines hear of at once, even while nothing can be rung."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket:
            await socket.frame()
            gateway.bus.away(True)
            run_id = await send(gateway)
            assert (brief(await socket.frame()), now()) == (("run_started", "0-", run_id), 0)

    run(main())


def test_an_end_that_the_stream_lost_is_found_with_a_ping() -> None:
    """A run whose last events only the store has hangs nobody: the line looks it up."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await gateway.write(delta(0))
            await socket.next(3)
            await gateway.end(log(3))
            assert (told(await socket.next(2)), now()) == (as_told(0, log(3))[2:], 15.0)

    run(main())


def test_a_frame_bears_the_time_of_its_sending() -> None:
    """`at` is the gateway's clock when a frame leaves, whenever the event was written."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await socket.next(2)
            for seq in range(3):
                gateway.clock.advance(timedelta(minutes=1))
                await pass_time(0.01)
                await gateway.publish(delta(seq))
                frame = await socket.frame()
                assert frame["at"] == gateway.clock.now().isoformat(timespec="milliseconds")

    run(main())


def test_a_ring_while_the_line_reads_is_not_lost() -> None:
    """A run that is opened just when the store has said that there is none comes at once."""

    class Asked(MemoryStore):
        first = True

        async def latest_run(self, session_id: str) -> StoredRun | None:
            """Say what is there; then, the first time, a message comes."""
            latest = await super().latest_run(session_id)
            if self.first:
                self.first = False
                await send(gateway)
            return latest

    gateway = house(store=Asked)

    async def main() -> None:
        async with opening(gateway.app) as socket:
            assert [frame["kind"] for frame in await socket.next(2)] == ["session_opened", "run_started"]
            assert now() == 0

    run(main())


def test_another_sessions_runs_are_not_told() -> None:
    """A line has its own session's runs and nothing else, whatever happens beside it."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket, opening(gateway.app, at("", "t")) as other:
            await gateway.ended(log(2, "x"), "t")
            await gateway.ended(log(2, "a"))
            assert told(await socket.next(4))[1:] == as_told(0, log(2, "a"))
            assert told(await other.next(4))[1:] == as_told(0, log(2, "x"))
            await pass_time(60)
            assert (len(socket.frames), len(other.frames)) == (4, 4)

    run(main())


# --- live, replayed, and cut at any point -----------------------------------------------------------------------------


def test_whatever_the_cut_each_event_comes_once() -> None:
    """From the cursor of any frame, what follows is what followed it: the union is the log, `run_started` included."""

    async def main() -> None:
        gateway, expected = await eventful()
        async with opening(gateway.app) as socket:
            whole = await socket.next(1 + len(expected))
        for cut, last in enumerate(whole):
            async with opening(gateway.app, at(str(last["cursor"]))) as again:
                ready = await again.frame()
                assert (ready["kind"], ready["cursor"]) == ("session_opened", last["cursor"])
                assert timeless(await again.next(len(whole) - cut - 1)) == timeless(whole[cut + 1 :])
                await pass_time(20)
                assert len(again.frames) == len(whole) - cut

    run(main())


def test_live_is_what_a_replay_is_and_what_a_stream_is() -> None:
    """The frames of a run that is watched are those of one that is read later, and have the data of its SSE."""

    async def main() -> None:
        gateway = house()
        events = full_log("r")
        async with opening(gateway.app) as socket, opening(gateway.app) as second:
            await gateway.streaming("r")
            await settle()
            async with calling(gateway.app, "GET", "/runs/r/events") as call:
                for event in events[:-1]:
                    await gateway.write(event)
                    await settle()
                await gateway.end(events)
                await gateway.publish(events[-1])
                streamed = await call.events()
            live = await socket.next(2 + len(events))
            assert timeless(await second.next(2 + len(events))) == timeless(live)
        async with opening(gateway.app) as later:
            assert timeless(await later.next(2 + len(events))) == timeless(live)
        assert [(frame["seq"], frame["kind"], frame["data"]) for frame in live[2:]] == [
            (int(event.id), event.event, msgspec.json.decode(event.data)) for event in streamed
        ]

    run(main())


def test_what_comes_out_of_order_and_twice_is_put_in_order() -> None:
    """The line goes through the orderer and the guard like a stream; a hole is filled from the store (O2)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await socket.next(2)
            await gateway.publish(delta(0), delta(2), delta(0), delta(4), delta(1))
            assert told(await socket.next(3)) == as_told(0, deltas(0, 3))[1:]
            await gateway.flush(*deltas(0, 5))
            assert told(await socket.next(2)) == as_told(0, deltas(3, 5))[1:]
            assert now() == 2.0

    run(main())


def test_an_exercise_that_is_not_written_shows_on_a_line_too() -> None:
    """With the starter's orderer events come as they arrive, and with its cursor the run begins again."""

    async def main() -> None:
        gateway = house(STARTER)
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await socket.next(2)
            await gateway.publish(delta(0), delta(2), delta(1))
            assert [frame["seq"] for frame in await socket.next(3)] == [0, 2, 1]
        await gateway.flush(*deltas(0, 3))
        async with opening(gateway.app, at("0-1")) as again:
            assert [frame["seq"] for frame in await again.next(3)] == [None, 0, 1]

    run(main())


def test_an_orderer_that_raises_ends_its_line_alone(caplog: pytest.LogCaptureFixture) -> None:
    """A fault in an exercise is logged and closes the line with 1011; the client comes back with its cursor."""

    async def main() -> None:
        def broken(start: int, emit: object) -> "object":
            raise ZeroDivisionError

        gateway = house(replace(SOLUTION, SeqOrderer=broken))  # type: ignore[arg-type]
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            assert await socket.closed() == (1011, "internal: a fault of ours; it has been logged; reconnect")
            assert [frame["kind"] for frame in socket.frames] == ["session_opened"]

    run(main())
    assert [record.getMessage() for record in caplog.records] == ["line_crashed"]


def test_what_is_missing_for_good_ends_the_line() -> None:
    """An event that is neither on the stream nor in the store: never a jump, but a close that says to come back."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await socket.next(2)
            await gateway.publish(delta(0), delta(2))
            code, reason = await socket.closed()
            assert (code, reason.partition(":")[0]) == (1011, "missing")
            assert told(socket.frames[2:]) == [("delta", "0-0", "r")]

    run(main())


def test_a_long_way_is_made_in_one_step() -> None:
    """Behind by more than the cap, the text comes as one snapshot, and the line goes on behind it."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, replay_cap=10))
        await gateway.streaming()
        await gateway.write(*deltas(0, 12))
        async with opening(gateway.app) as socket:
            *_, snapshot = await socket.next(3)
            assert (brief(snapshot), snapshot["seq"]) == (("snapshot", "0-11", "r"), 11)
            assert snapshot["data"] == {"text": "".join(f"{seq} " for seq in range(12))}
            await gateway.publish(delta(12))
            assert brief(await socket.frame()) == ("delta", "0-12", "r")

    run(main())


def test_an_archived_run_is_one_text_and_its_end() -> None:
    """Rows that have become one text come as a snapshot, as on a stream (R3)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        assert await gateway.store.archive("r", "the whole text")
        async with opening(gateway.app) as socket:
            frames = (await socket.next(4))[1:]
            assert told(frames) == [("run_started", "0-", "r"), ("snapshot", "0-2", "r"), ("done", "0-3", "r")]
            assert frames[1]["data"] == {"text": "the whole text"}
        async with opening(gateway.app, at("0-2")) as later:
            assert told(await later.next(2))[1:] == [("done", "0-3", "r")]

    run(main())


def test_a_cursor_ahead_of_a_live_run_gets_a_gap() -> None:
    """A live run that has not got so far voids what was shown of it, and begins with all its text (R4)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.write(*deltas(0, 3))
        async with opening(gateway.app, at("0-9")) as socket:
            _, gap, snapshot = await socket.next(3)
            assert (brief(gap), gap["data"]) == (("gap", "0-", "r"), {"requested": 9, "earliest": 0, "latest": 2})
            assert (brief(snapshot), snapshot["data"]) == (("snapshot", "0-2", "r"), {"text": "0 1 2 "})
            await gateway.publish(delta(3))
            assert brief(await socket.frame()) == ("delta", "0-3", "r")

    run(main())


def test_a_rerun_comes_as_it_is() -> None:
    """What voids the text so far is an event like any other."""

    async def main() -> None:
        gateway = house()
        events = [delta(0), rerun(1), delta(2), done(3)]
        await gateway.ended(events)
        async with opening(gateway.app) as socket:
            assert told(await socket.next(6))[1:] == as_told(0, events)

    run(main())


# --- many sockets of one session --------------------------------------------------------------------------------------


def test_many_sockets_are_one_read_and_one_encoding() -> None:
    """However many lines a session has, its run is followed once, and each event is written once for all."""

    async def main() -> None:
        gateway = house(output=Followed)
        await gateway.streaming()
        async with AsyncExitStack() as stack:
            sockets = [await stack.enter_async_context(opening(gateway.app)) for _ in range(5)]
            await settle()
            await gateway.publish(*deltas(0, 3))
            for socket in sockets:
                assert told(await socket.next(5))[2:] == as_told(0, deltas(0, 3))[1:]
            assert isinstance(gateway.output, Followed)
            assert sorted(gateway.output.followed) == sorted(gateway.output.following) == ["line:s", "r"]
            written = [frame.as_line for frame in await held(gateway)]
            assert len(written) == 3 and all(written)

    run(main())


async def held(gateway: House) -> Sequence[Held]:
    """Return what the channel of run "r" holds."""
    async with gateway.feeds.join(await gateway.feeds.find("r", None)) as channel:
        assert isinstance(channel, Channel)
        return channel.since(0)[0]


def test_a_page_that_is_loaded_again_misses_nothing() -> None:
    """The new socket comes before the old one's goodbye, which then removes itself and not its successor."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as new:
            async with opening(gateway.app) as old:
                await old.frame()
                await new.frame()
                await gateway.streaming()
                await pass_time(15)
            run_id = "r"
            await gateway.publish(delta(0))
            assert told(await new.next(2)) == [("run_started", "0-", run_id), ("delta", "0-0", run_id)]
            await gateway.end(log(2))
            await gateway.publish(done(1))
            assert brief(await new.frame()) == ("done", "0-1", run_id)
            second = await send(gateway)
            assert brief(await new.frame()) == ("run_started", "1-", second)

    run(main())


def test_a_slow_socket_delays_nobody() -> None:
    """One client takes nothing: the other has everything at once; the slow one is dropped after a while (C4)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        with noting() as notes:
            async with opening(gateway.app, takes=2) as slow, opening(gateway.app) as quick:
                await quick.next(2)
                for seq in range(5):
                    await gateway.publish(delta(seq))
                    assert brief(await quick.frame()) == ("delta", f"0-{seq}", "r")
                assert now() == 0
                await pass_time(10)
                assert slow.over and not quick.over
        assert notes.of("client_dropped") == [{"after_s": 10.0}]

    run(main())


# --- what ends a line -------------------------------------------------------------------------------------------------


def test_a_client_that_never_pongs_is_closed() -> None:
    """Nothing comes from it for ten seconds after a ping: 4408, which says to come back."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app, pongs=False) as socket:
            assert await socket.closed() == (4408, "nothing came from you for 10 s after a ping")
            assert ([frame["kind"] for frame in socket.frames], now()) == (["session_opened", "ping"], 25.0)

    run(main())


@pytest.mark.parametrize("frame", [{"type": "ping"}, {"type": "pong"}, {"type": "hum"}])
def test_any_frame_is_a_sign_of_life(frame: dict[str, str | int]) -> None:
    """A client that says anything after each ping is kept."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app, pongs=False) as socket:
            for _ in range(20):
                await socket.until("ping")
                await pass_time(9)
                socket.say({**frame})
            assert not socket.over

    run(main())


def test_pings_that_are_further_apart_than_their_wait_have_it_all_the_same() -> None:
    """A wait that is longer than the time between two pings ends after the first that was not answered."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, ping_every=timedelta(seconds=2), pong_wait=timedelta(seconds=5)))
        async with opening(gateway.app, pongs=False) as socket:
            assert (await socket.closed())[0] == 4408
            assert now() == 7.0

    run(main())


def test_a_ping_is_answered_at_once() -> None:
    """A client that wants to hear something does."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket:
            await socket.frame()
            socket.say({"type": "ping"})
            assert ((await socket.frame())["kind"], now()) == ("pong", 0)

    run(main())


def test_a_line_has_an_age() -> None:
    """At 80 to 100 % of the most it is closed with 1001, whatever it does (C7)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        ends = set()
        for _ in range(5):
            begun = now()
            async with opening(gateway.app) as socket:
                assert await socket.closed() == (1001, "this connection has reached its end; reconnect")
                ends.add(now() - begun)
        assert len(ends) == 5 and all(480 <= end <= 600 for end in ends)

    run(main())


def test_a_gateway_that_stops_says_so() -> None:
    """Every line is closed with 1001, resting or busy; what was ready is sent before (C5)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with opening(gateway.app) as busy, opening(gateway.app, at("", "t")) as resting:
            await busy.next(2)
            await resting.frame()
            many = [delta(seq, "x" * 8000) for seq in range(50)]  # more than is sent at once
            await gateway.publish(*many)
            gateway.feeds.stop()
            assert ((await busy.closed())[0], (await resting.closed())[0], now()) == (1001, 1001, 0)
            assert told(busy.frames[2:]) == as_told(0, many)[1:]

    run(main())


def test_a_gateway_that_stops_asks_nothing_of_the_store() -> None:
    """All of its lines are woken at once, and none of them looks for a run again."""

    class Asked(MemoryStore):
        looks = 0

        async def latest_run(self, session_id: str) -> StoredRun | None:
            """Count."""
            self.looks += 1
            return await super().latest_run(session_id)

    async def main() -> None:
        gateway = house(store=Asked)
        async with AsyncExitStack() as stack:
            sockets = [await stack.enter_async_context(opening(gateway.app, at("", f"s{n}"))) for n in range(9)]
            await settle()
            gateway.feeds.stop()
            assert {(await socket.closed())[0] for socket in sockets} == {1001}
            assert isinstance(gateway.store, Asked) and gateway.store.looks == 9

    run(main())


def test_a_client_that_leaves_leaves_nothing() -> None:
    """Nobody follows for it any more, and it is counted no longer."""

    async def main() -> None:
        gateway = house(output=Followed)
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await socket.next(2)
            assert "koda_sockets 1" in await metrics(gateway)
        await settle()
        assert isinstance(gateway.output, Followed)
        assert (gateway.output.followed, gateway.output.following) == (["line:s", "r"], [])
        numbers = await metrics(gateway)
        assert "koda_sockets 0" in numbers and "koda_socket_frames_total 2" in numbers

    run(main())


async def metrics(gateway: House) -> list[str]:
    """Return the lines of a gateway's numbers."""
    return (await ask(gateway.app, "GET", "/metrics")).body.decode().splitlines()


# --- a store that is away ---------------------------------------------------------------------------------------------


def test_a_line_waits_for_a_store_that_is_away() -> None:
    """It stays open, asks again every second, and goes on where it was."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(2, "a"))
        async with opening(gateway.app) as socket:
            await socket.next(4)
            await gateway.ended(log(2, "b"))
            gateway.store.away(True)
            await pass_time(40)
            assert (len(socket.frames), socket.over) == (4, False)
            gateway.store.away(False)
            since = now()
            assert told(await socket.next(3)) == as_told(1, log(2, "b"))
            assert now() - since <= 1

    run(main())


def test_a_store_that_takes_its_time_is_not_the_clients_silence() -> None:
    """A client has all its time for a pong although the store kept its line waiting for longer than that."""

    class Slow(MemoryStore):
        answers = asyncio.Event()

        async def run(self, run_id: str) -> StoredRun | None:
            """Answer when the test says so."""
            await self.answers.wait()
            return await super().run(run_id)

    async def main() -> None:
        gateway = house(store=Slow)
        assert isinstance(gateway.store, Slow)
        gateway.store.answers.set()
        await gateway.streaming()
        async with opening(gateway.app) as socket:
            await socket.next(2)
            gateway.store.answers.clear()
            await pass_time(15 + 11)
            gateway.store.answers.set()
            await pass_time(1)
            await gateway.write(*log(2))
            assert told(await socket.next(2)) == as_told(0, log(2))[1:]

    run(main())


def test_a_store_that_fails_between_two_reads_costs_no_event() -> None:
    """The run was found and its rows were not: the same run is begun again, and told of once."""

    class Failing(MemoryStore):
        failures = 2

        async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
            """Fail at first."""
            self.away(self.failures > 0)
            self.failures -= 1
            try:
                return await super().events(run_id, start, limit)
            finally:
                self.away(False)

    async def main() -> None:
        gateway = house(store=Failing)
        await gateway.ended(log(3))
        async with opening(gateway.app) as socket:
            assert told(await socket.next(5))[1:] == as_told(0, log(3))
            assert now() == 2.0

    run(main())


def test_terminal_kinds_end_a_run_and_not_the_line() -> None:
    """Whatever way a run ends, the next one follows."""

    async def main() -> None:
        gateway = house()
        ends: list[tuple[EventKind, dict[str, Json]]] = [
            (EventKind.DONE, {"usage": {}}),
            (EventKind.FAILED, {"error": "no"}),
            (EventKind.CANCELLED, {"reason": "by the user"}),
        ]
        runs = [[Event(f"run-{kind}", 0, kind, encode_data(data))] for kind, data in ends]
        assert {events[-1].kind for events in runs} == TERMINAL
        for events in runs:
            await gateway.ended(events)
        async with opening(gateway.app) as socket:
            frames = await socket.next(7)
            assert told(frames)[1:] == [told for n, events in enumerate(runs) for told in as_told(n, events)]

    run(main())
