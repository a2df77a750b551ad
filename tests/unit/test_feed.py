"""The feed: what one waiter gets, in order and complete, from any cursor and at any moment."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from client.sse import ServerEvent
from gateway.hub import KEPT
from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryStore
from shared.errors import Unavailable
from shared.events import Event, decode_data, reply_text
from tests.support.asking import Call, ask, calling
from tests.support.houses import SETTINGS, CrashingOnce, House, as_sent, delta, deltas, done, house, log, rerun
from tests.support.moved_loop import now, pass_time, run, settle


@asynccontextmanager
async def watching(gateway: House, cursor: int | None = None, run_id: str = "r") -> AsyncIterator[Call]:
    """Watch a run, from after a cursor on. What is ready at once has been sent when the block begins."""
    headers = [] if cursor is None else [(b"last-event-id", str(cursor).encode())]
    async with calling(gateway.app, "GET", f"/runs/{run_id}/events", headers) as call:
        await settle()
        yield call


async def watched(gateway: House, cursor: int | None = None) -> list[ServerEvent]:
    """Return all events of a stream that ends."""
    async with watching(gateway, cursor) as call:
        return await call.events()


def kinds(events: Sequence[ServerEvent]) -> list[str]:
    """Return the kinds of events."""
    return [event.event for event in events]


def error_code(event: ServerEvent) -> str:
    """Return the code of an error event, which moves no cursor."""
    assert (event.event, event.has_id) == ("error", False)
    code = decode_data(event.data)["code"]
    assert isinstance(code, str)
    return code


class HookedStore(MemoryStore):
    """Lets a test act between a page's reading and its arrival."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__(clock)
        self.after_page: Callable[[], Awaitable[None]] | None = None
        self.pages = 0
        self.fail_next_page = False

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Read a page; then the test acts, once; then the page arrives."""
        page = await super().events(run_id, start, limit)
        self.pages += 1
        if self.fail_next_page:
            self.fail_next_page = False
            raise Unavailable("store", "as the test wants it")
        act, self.after_page = self.after_page, None
        if act is not None:
            await act()
        return page


# --- where a connection starts ----------------------------------------------------------------------------------------


def test_an_ended_run_is_replayed_to_its_end() -> None:
    """The whole log comes from the store alone, byte for byte, in one piece, and the stream closes."""

    async def main() -> None:
        gateway = house()
        await gateway.ended([delta(0, "wa"), rerun(1), done(2)])
        answer = await ask(gateway.app, "GET", "/runs/r/events")
        assert answer.body == (
            b"retry: 1000\n"
            b'id: 0\nevent: delta\ndata: {"text":"wa"}\n\n'
            b'id: 1\nevent: rerun\ndata: {"reason":"merge","attempt":1}\n\n'
            b'id: 2\nevent: done\ndata: {"usage":{}}\n\n'
        )

    run(main())


def test_the_first_bytes_do_not_wait_for_an_event() -> None:
    """A waiter of a run that has nothing yet gets the retry line at once."""

    async def main() -> None:
        gateway = house()
        await gateway.run()
        async with watching(gateway) as call:
            assert (await call.chunk(), now() < 1) == (b"retry: 1000\n", True)

    run(main())


def test_who_waits_before_the_first_event_misses_nothing() -> None:
    """A waiter that comes before the run has a stream gets everything, live and in order (R5, R9)."""

    async def main() -> None:
        gateway = house()
        await gateway.run()
        async with watching(gateway) as call:
            assert await gateway.store.claim("w", SETTINGS.lease, "s") is not None
            await gateway.publish(*log(4))
            assert await call.events() == as_sent(log(4))

    run(main())


def test_what_is_written_between_replay_and_live_comes_once() -> None:
    """An event that is written while the replay is on its way is delivered, and once (R8)."""

    async def main() -> None:
        gateway = house(store=HookedStore)
        assert isinstance(gateway.store, HookedStore)
        await gateway.streaming()
        await gateway.write(*deltas(0, 3))

        async def write_one_more() -> None:
            await gateway.write(delta(3))

        gateway.store.after_page = write_one_more
        async with watching(gateway) as call:
            await gateway.publish(done(4))
            assert await call.events() == as_sent([*deltas(0, 4), done(4)])

    run(main())


def test_a_run_that_ends_while_its_waiter_comes_is_seen_to_its_end() -> None:
    """A run that was streaming when it was looked up and has ended when it is replayed ends the stream."""

    async def main() -> None:
        gateway = house(store=HookedStore)
        assert isinstance(gateway.store, HookedStore)
        await gateway.streaming()
        await gateway.write(*deltas(0, 3))

        async def end() -> None:
            await gateway.end([delta(3), done(4)])

        gateway.store.after_page = end
        async with watching(gateway) as call:
            assert await call.events(3) == as_sent(deltas(0, 3))
            assert await call.events() == as_sent([delta(3), done(4)])
            assert round(now()) == 15

    run(main())


@pytest.mark.parametrize("cursor", [4, 5, 100, 10**17])
def test_an_ended_run_has_nothing_after_its_end(cursor: int) -> None:
    """At the last event of an ended run, and beyond it, the answer is 204 without a body (R4, R10)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(5))
        answer = await ask(gateway.app, "GET", "/runs/r/events", [(b"last-event-id", str(cursor).encode())])
        assert (answer.status, answer.body, dict(answer.headers)) == (204, b"", {})

    run(main())


def test_a_cursor_that_only_the_stream_knows_is_no_gap() -> None:
    """A waiter that is ahead of the store, which gets its rows in batches, goes on from the stream."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.publish(*deltas(0, 6))
        await gateway.flush(*deltas(0, 2))
        async with watching(gateway, cursor=4) as call:
            await gateway.publish(done(6))
            assert await call.events() == as_sent([delta(5), done(6)])

    run(main())


def test_a_cursor_ahead_of_a_live_run_is_a_gap() -> None:
    """A cursor that this run never gave out is told so; a snapshot follows, and then what comes (R4)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.write(*deltas(0, 3))
        async with watching(gateway, cursor=40) as call:
            await gateway.publish(delta(3), done(4))
            gap, snapshot, *rest = await call.events()
        assert gap == ServerEvent("gap", '{"requested":40,"earliest":0,"latest":2}', "", has_id=False)
        assert snapshot == ServerEvent("snapshot", '{"text":"0 1 2 "}', "2", has_id=True)
        assert rest == as_sent([delta(3), done(4)])

    run(main())


def test_a_gap_of_a_run_without_events_begins_at_the_beginning() -> None:
    """When there is no history to be in, the gap says so and everything that comes is sent (R4)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway, cursor=40) as call:
            await gateway.publish(*log(3))
            gap, *rest = await call.events()
        assert gap == ServerEvent("gap", '{"requested":40,"earliest":null,"latest":null}', "", has_id=False)
        assert rest == as_sent(log(3))

    run(main())


def test_a_long_replay_is_one_snapshot() -> None:
    """Beyond the replay cap the text so far comes as one event, at the cap it comes one by one (R3, C7)."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, replay_cap=10))
        await gateway.streaming()
        events = [delta(0, "void"), rerun(1), *deltas(2, 12)]
        await gateway.write(*events)
        async with watching(gateway, cursor=0) as capped, watching(gateway, cursor=1) as at_cap:
            await gateway.publish(done(12))
            snapshot, *rest = await capped.events()
            assert snapshot.event == "snapshot" and snapshot.id == "11"
            assert decode_data(snapshot.data) == {"text": reply_text(events)}
            assert rest == as_sent([done(12)])
            assert await at_cap.events() == as_sent([*events[2:], done(12)])

    run(main())


def test_a_log_of_many_pages_is_sent_whole() -> None:
    """What the store gives in pages of a thousand comes as one log, or as one text."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, replay_cap=2500))
        await gateway.ended(log(2500))
        assert await watched(gateway) == as_sent(log(2500))
        gateway = house(settings=replace(SETTINGS, replay_cap=2499))
        await gateway.ended(log(2500))
        snapshot, last = await watched(gateway)
        assert (decode_data(snapshot.data), [last]) == ({"text": reply_text(log(2500))}, as_sent([done(2499)]))
        assert now() < 0.1

    run(main())


def test_a_snapshot_never_goes_behind_the_cursor() -> None:
    """A waiter ahead of the store is not sent back to a text that ends before its cursor: the stream has the rest."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, replay_cap=10))
        await gateway.streaming()
        await gateway.publish(*deltas(0, 30))
        await gateway.flush(*deltas(0, 4))
        async with watching(gateway, cursor=9) as call:
            await gateway.publish(done(30))
            assert await call.events() == as_sent([*deltas(10, 30), done(30)])

    run(main())


def test_a_snapshot_leaves_the_end_to_its_own_event() -> None:
    """A long run that has ended is a snapshot up to its last fragment and then the terminal event itself."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, replay_cap=10))
        await gateway.ended(log(20))
        snapshot, last = await watched(gateway)
        assert (snapshot.event, snapshot.id, [last]) == ("snapshot", "18", as_sent([done(19)]))

    run(main())


@pytest.mark.parametrize("cursor", [None, 0, 2])
def test_an_archived_run_is_a_snapshot_and_its_end(cursor: int | None) -> None:
    """When the rows have become one text, every cursor before it gets that text: never a silent skip (R3)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(5))
        assert await gateway.store.archive("r", "the whole text")
        snapshot, last = await watched(gateway, cursor)
        assert snapshot == ServerEvent("snapshot", '{"text":"the whole text"}', "3", has_id=True)
        assert [last] == as_sent([done(4)])

    run(main())


def test_an_archived_run_at_its_end() -> None:
    """Who has the whole text of an archived run gets its terminal event alone, and who has that gets nothing."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(5))
        assert await gateway.store.archive("r", "the whole text")
        assert await watched(gateway, cursor=3) == as_sent([done(4)])
        assert (await ask(gateway.app, "GET", "/runs/r/events", [(b"last-event-id", b"4")])).status == 204

    run(main())


def test_an_archived_run_of_one_event() -> None:
    """A run that was cancelled before it began has no text to be archived and is its one event."""

    async def main() -> None:
        gateway = house()
        await gateway.ended([done(0)])
        assert await gateway.store.archive("r", "")
        assert await watched(gateway) == as_sent([done(0)])

    run(main())


def test_a_run_archived_under_the_replay_is_asked_for_again() -> None:
    """A waiter whose rows vanish while it reads is told to reconnect, and then gets the text (R3)."""

    async def main() -> None:
        gateway = house(store=HookedStore)
        assert isinstance(gateway.store, HookedStore)
        await gateway.ended(log(1500))

        async def archive() -> None:
            await gateway.store.archive("r", "the whole text")

        gateway.store.after_page = archive
        *first, error = await watched(gateway)
        assert (first, error_code(error)) == (as_sent(deltas(0, 1000)), "missing")
        assert kinds(await watched(gateway, cursor=999)) == ["snapshot", "done"]

    run(main())


# --- order and holes --------------------------------------------------------------------------------------------------


def test_the_end_waits_for_what_it_has_overtaken() -> None:
    """A terminal event that comes first is delivered last (O1)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.publish(done(3), delta(1), delta(0))
            await settle()
            await gateway.publish(delta(2), delta(2))
            assert await call.events() == as_sent(log(4))

    run(main())


def test_an_empty_text_is_a_fragment() -> None:
    """An empty fragment has its seq and is delivered like any other, live and replayed (O3)."""
    events = [Event("r", 0, delta(0).kind, '{"text":""}'), delta(1), Event("r", 2, delta(0).kind, '{"text":""}')]

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.publish(events[2], events[1], events[0], done(3))
            assert await call.events() == as_sent([*events, done(3)])
        await gateway.end([*events, done(3)])
        assert await watched(gateway) == as_sent([*events, done(3)])

    run(main())


def test_too_many_held_events_fill_the_hole_from_the_store() -> None:
    """With 64 held a hole still has patience; the one after them has it filled from the store at once (O2)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.publish(*deltas(0, 3))
        async with watching(gateway) as call:
            assert await call.events(3) == as_sent(deltas(0, 3))
            await gateway.flush(*deltas(0, 68))
            sent = len(call.sent)
            await gateway.publish(*deltas(4, 68))
            await settle()
            assert len(call.sent) == sent
            await gateway.publish(delta(68))
            assert await call.events(66) == as_sent(deltas(3, 69))
            assert now() < 0.1

    run(main())


def test_too_many_held_events_wait_for_the_writers_next_batch() -> None:
    """When the store has not got what is missing yet it is asked again after a flush's time, not after the patience."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.publish(*deltas(1, 70))
            await pass_time(0.1)
            await gateway.flush(*deltas(0, 70))
            assert await call.events(70) == as_sent(deltas(0, 70))
            assert now() == pytest.approx(0.2, abs=0.01)

    run(main())


def test_the_store_is_not_asked_for_each_arrival() -> None:
    """While too many are held the store is asked once per flush's time, however many more arrive."""

    async def main() -> None:
        gateway = house(store=HookedStore)
        assert isinstance(gateway.store, HookedStore)
        await gateway.streaming()
        async with watching(gateway) as call:
            before = gateway.store.pages
            await gateway.publish(*deltas(1, 66))
            for seq in range(66, 116):
                await gateway.publish(delta(seq))
                await pass_time(0.01)
            assert gateway.store.pages - before == 3
            await gateway.publish(delta(0))
            assert await call.events(116) == as_sent(deltas(0, 116))

    run(main())


def test_the_store_has_a_pause_where_writers_flush_at_once() -> None:
    """A flush's time of nothing is none between two looks for what is missing: a hundred a second are enough."""

    async def main() -> None:
        gateway = house(store=HookedStore, settings=replace(SETTINGS, flush_every=timedelta(0), reorder_limit=0))
        assert isinstance(gateway.store, HookedStore)
        await gateway.streaming()
        async with watching(gateway):
            before = gateway.store.pages
            await gateway.publish(delta(1))
            await pass_time(0.105)
            assert gateway.store.pages - before == 11

    run(main())


def test_a_hole_that_stays_open_is_filled_from_the_store() -> None:
    """What is missing on the stream for two seconds is taken from the store, and the stream goes on (O2)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.publish(delta(0), delta(2))
            await gateway.flush(*deltas(0, 2))
            assert await call.events(1) == as_sent([delta(0)])
            assert await call.events(2) == as_sent(deltas(1, 3))
            assert now() == pytest.approx(2, abs=0.01)
            await gateway.publish(done(3))
            assert await call.events() == as_sent([done(3)])

    run(main())


def test_a_hole_that_nothing_fills_ends_the_connection() -> None:
    """What neither stream nor store has is never jumped: after two seconds the connection ends with an error (O2)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.publish(delta(0), delta(2))
            first, error = await call.events()
            assert ([first], error_code(error)) == (as_sent([delta(0)]), "missing")
            assert now() == pytest.approx(2, abs=0.01)

    run(main())


def test_a_hole_while_the_store_is_away_ends_the_connection() -> None:
    """When the store cannot be asked the connection ends with an error after its patience, and not with a crash."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            gateway.store.away(True)
            await gateway.publish(delta(0), delta(2))
            first, error = await call.events()
            assert ([first], error_code(error)) == (as_sent([delta(0)]), "missing")

    run(main())


def test_connections_order_by_themselves() -> None:
    """A connection that holds back for a hole holds nothing back from another, earlier or later (O6)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.flush(*deltas(0, 2))
        async with watching(gateway) as early:
            await gateway.publish(delta(3))
            async with watching(gateway, cursor=2) as ahead, watching(gateway) as late:
                await gateway.publish(delta(2), done(4))
                assert await ahead.events() == as_sent([delta(3), done(4)])
                for call in (early, late):
                    assert await call.events() == as_sent([*deltas(0, 4), done(4)])

    run(main())


def test_a_waiter_too_slow_for_the_channel_is_filled_from_the_store() -> None:
    """A client that took nothing of a long run gets what the channel has let go from the store, in order."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, send_timeout=timedelta(hours=1)))
        await gateway.streaming()
        events = log(3 * KEPT)
        async with watching(gateway) as call:
            call.takes = len(call.sent)
            for start in range(0, len(events), 1000):
                await gateway.write(*events[start : start + 1000])
                await settle()
            call.take_all()
            assert await call.events() == as_sent(events)
            assert now() < 0.1

    run(main())


# --- silence and ends -------------------------------------------------------------------------------------------------


def test_silence_is_filled_with_heartbeats() -> None:
    """Every 15 s of silence bring the comment `: ping` on a line that ends no block (C1)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await call.chunk()
            assert [(await call.chunk(), round(now())) for _ in range(3)] == [(b": ping\n", at) for at in (15, 30, 45)]
            await gateway.publish(delta(0))
            await call.chunk()
            assert (await call.chunk(), round(now())) == (b": ping\n", 60)

    run(main())


def test_arrivals_that_bring_nothing_do_not_put_the_heartbeat_off() -> None:
    """Silence is what the client hears: deliveries that are dropped as duplicates do not count as speech."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.write(delta(0))
            assert await call.events(1) == as_sent([delta(0)])
            await gateway.end([delta(1), done(2)])
            for _ in range(2):
                await pass_time(10)
                await gateway.publish(delta(0))
            assert (await call.events(), now() < 21) == (as_sent([delta(1), done(2)]), True)

    run(main())


def test_a_lost_end_hangs_nobody() -> None:
    """A run whose last events never reach the stream ends for its waiters with the next heartbeat."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.write(*deltas(0, 2))
            assert await call.events(2) == as_sent(deltas(0, 2))
            await gateway.end([delta(2), done(3)])
            assert (await call.events(), round(now())) == (as_sent([delta(2), done(3)]), 15)

    run(main())


def test_a_run_that_is_cancelled_before_it_began_is_told_at_once() -> None:
    """Waiters of a pending run see its one event when it is cancelled, and not with the next heartbeat."""

    async def main() -> None:
        gateway = house()
        await gateway.run()
        async with watching(gateway) as call:
            assert (await ask(gateway.app, "POST", "/runs/r/cancel")).status == 200
            (event,) = await call.events()
            assert (event.event, event.id, now() < 0.1) == ("cancelled", "0", True)
        assert await watched(gateway) == [event]

    run(main())


@pytest.mark.parametrize("service", ["bus", "store"])
def test_a_cancel_that_cannot_be_told_is_a_cancel(service: str) -> None:
    """A run that was cancelled is so whether or not its waiters could be told; they see it with their heartbeat."""

    async def main() -> None:
        gateway = house(store=HookedStore)
        assert isinstance(gateway.store, HookedStore)
        await gateway.run()
        async with watching(gateway) as call:
            gateway.bus.away(service == "bus")
            gateway.store.fail_next_page = service == "store"
            answer = await ask(gateway.app, "POST", "/runs/r/cancel")
            assert (answer.status, answer.json()) == (200, {"run_id": "r", "status": "cancelled"})
            gateway.bus.away(False)
            (event,) = await call.events()
            assert (event.event, round(now())) == ("cancelled", 15)

    run(main())


def test_an_end_before_what_was_seen_hangs_nobody() -> None:
    """A run that ended at a seq below the ones a waiter has (its events were lost with bus and worker) lets it go."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            await gateway.publish(*deltas(0, 5))
            assert await call.events(5) == as_sent(deltas(0, 5))
            gateway.bus.flush()
            await gateway.end([rerun(0), done(1)])
            (error,) = await call.events()
            assert (error_code(error), round(now())) == ("missing", 15)

    run(main())


def test_a_bus_that_is_away_leaves_the_heartbeat_to_bring_what_the_store_has() -> None:
    """While the bus is away waiters stay, and get with each heartbeat what has reached the store."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            gateway.bus.away(True)
            await gateway.flush(delta(0))
            assert (await call.events(1), round(now())) == (as_sent([delta(0)]), 15)
            gateway.bus.away(False)
            await gateway.publish(*log(3))
            assert (await call.events(), round(now())) == (as_sent(log(3)[1:]), 15)

    run(main())


def test_a_store_that_is_away_does_not_end_a_silent_stream() -> None:
    """A heartbeat that cannot look the run up is a heartbeat all the same."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with watching(gateway) as call:
            gateway.store.away(True)
            await call.chunk()
            assert await call.chunk() == b": ping\n"
            gateway.store.away(False)
            await gateway.end([done(0)])
            assert (await call.events(), round(now())) == (as_sent([done(0)]), 30)

    run(main())


def test_connections_end_spread_over_a_fifth_of_their_age(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that began together end between 80 and 100 % of the greatest age, all at different times (C7)."""
    monkeypatch.setattr(random, "uniform", random.Random(0).uniform)

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        ends: list[float] = []
        for run_number in range(40):
            began = now()
            async with watching(gateway) as call:
                (error,) = await call.events()
                assert error_code(error) == "going_away", run_number
                ends.append(now() - began)
        assert 480 <= min(ends) < 540 < max(ends) <= 600.1
        assert len(set(ends)) == 40

    run(main())


def test_streams_are_told_when_the_gateway_stops() -> None:
    """When the feeds are stopped every open stream gets what has come, then `going_away`, and is closed (C5)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming("r", "s")
        await gateway.streaming("q", "t")
        async with watching(gateway) as one, watching(gateway) as other, watching(gateway, run_id="q") as third:
            await gateway.publish(delta(0))
            gateway.feeds.stop()
            for call in (one, other):
                first, error = await call.events()
                assert ([first], error_code(error)) == (as_sent([delta(0)]), "going_away")
            assert [error_code(event) for event in await third.events()] == ["going_away"]
            assert now() < 0.1

    run(main())


def test_a_stream_that_opens_while_the_gateway_stops() -> None:
    """Who comes too late gets what the store has and is told at once; an ended run is simply sent (C5)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        await gateway.streaming("q", "t")
        await gateway.flush(delta(0, run_id="q"))
        gateway.feeds.stop()
        assert await watched(gateway) == as_sent(log(3))
        async with watching(gateway, run_id="q") as call:
            first, error = await call.events()
            assert ([first], error_code(error)) == (as_sent([delta(0)]), "going_away")
        assert now() < 0.1

    run(main())


def test_a_crash_of_the_read_is_told_to_all_who_wait() -> None:
    """When the one read of a run crashes each waiter gets what has come and an error, and can come back at once."""

    async def main() -> None:
        gateway = house(output=CrashingOnce)
        await gateway.streaming()
        async with watching(gateway) as one, watching(gateway) as other:
            await gateway.publish(delta(0))
            for call in (one, other):
                first, error = await call.events()
                assert ([first], error_code(error)) == (as_sent([delta(0)]), "internal")
            async with watching(gateway, cursor=0) as again:
                await gateway.publish(done(1))
                assert await again.events() == as_sent([done(1)])
            assert now() < 0.1

    run(main())
