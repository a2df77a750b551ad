"""The bus on a real server: its connections, its faults, and what it says when it cannot be used."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta

import pytest
import uvloop

from gateway.connection import abort
from shared.adapters.redis import RedisBus, channel, connect, delete_prefix, lanes
from shared.adapters.redis import input as input_queue
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.protocol import Argument, Reply, pack
from shared.errors import Misconfigured, Unavailable
from shared.events import Event, EventKind
from shared.ports import Delivery, Mark
from tests.support.patience import patiently
from tests.support.real import own_name, real_urls, services_to_break

PATIENCE_S = 60.0
AN_HOUR = timedelta(hours=1)
NOTHING = timedelta(0)
A_SECOND = timedelta(seconds=1)


def run(test: Coroutine[None, None, None]) -> None:
    """Run a coroutine with a limit that only a hang reaches."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await test

    asyncio.run(bounded())


def deltas(run_id: str, start: int, end: int) -> list[Event]:
    """Return the fragments with the seqs of `range(start, end)`."""
    return [Event(run_id, seq, EventKind.DELTA, f'{{"text":"{seq}"}}') for seq in range(start, end)]


@asynccontextmanager
async def opened(url: str, prefix: str | None = None) -> AsyncIterator[RedisBus]:
    """Open a bus under a prefix of its own and remove it afterwards."""
    name = prefix or own_name()
    bus = await patiently(lambda: RedisBus.connect(url, prefix=name))
    try:
        yield bus
    finally:
        await bus.close()
        await delete_prefix(url, name)


async def command(bus: RedisBus, *words: Argument) -> Reply:
    """Send a command of the test's own over the bus's connection."""
    return await bus.server.command(*words)


async def connections(bus: RedisBus, asked: RedisBus | None = None) -> list[str]:
    """Return the bus's own lines of the server's CLIENT LIST, asked for over this bus or another."""
    reply = await command(asked or bus, "CLIENT", "LIST")
    assert isinstance(reply, bytes)
    return [line for line in reply.decode().splitlines() if f" name={bus.prefix}:" in line]


async def consumers(bus: RedisBus) -> list[str]:
    """Return the names that the group of the input stream has."""
    reply = await command(bus, "XINFO", "CONSUMERS", Keys(bus.prefix).input, "workers")
    assert isinstance(reply, list)
    names: list[str] = []
    for consumer in reply:
        assert isinstance(consumer, list) and isinstance(consumer[1], bytes)
        names.append(consumer[1].decode())
    return names


async def blocked(bus: RedisBus, count: int) -> None:
    """Return when this many connections of the bus block."""
    while sum(" flags=b " in line for line in await connections(bus)) < count:
        pass  # every look is a round trip


async def taken(follower: "AsyncIterator[Sequence[Event]]", count: int) -> list[int]:
    """Return the next seqs that a follower gets, in order, `count` or more of them."""
    seqs: list[int] = []
    while len(seqs) < count:
        seqs += [event.seq for event in await anext(follower)]
    return seqs


def test_a_take_may_block_longer_than_the_library_would_wait() -> None:
    """L1: a read that blocks for more than 5 s ends with nothing, not with an error."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            assert await bus.queue.take("w", 1, timedelta(seconds=5.2)) == []

    run(test())


def test_a_cancelled_take_closes_its_connection() -> None:
    """L2: nobody takes entries after the cancel, and the next reader gets its own reply."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            task = asyncio.create_task(bus.queue.take("w1", 1, AN_HOUR))
            await blocked(bus, 1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            while len(await connections(bus)) > 1:
                pass  # every look is a round trip
            await bus.queue.put("s")
            assert [delivery.session_id for delivery in await bus.queue.take("w2", 1, A_SECOND)] == ["s"]

    run(test())


def test_a_cancelled_command_leaves_the_others_their_replies() -> None:
    """L2: whoever shares the connection with a cancelled command gets the reply to its own."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            await bus.marks.set("r", Mark.CANCEL, AN_HOUR)
            tasks = [asyncio.create_task(bus.marks.read("r" if number % 2 else "none")) for number in range(100)]
            await asyncio.sleep(0)
            for task in tasks[::3]:
                task.cancel()
            answers = await asyncio.gather(*tasks, return_exceptions=True)
            for number, answer in enumerate(answers):
                if number % 3:
                    assert answer == (frozenset({Mark.CANCEL}) if number % 2 else frozenset())
                else:
                    assert isinstance(answer, asyncio.CancelledError)

    run(test())


def test_commands_do_not_wait_for_blocking_reads() -> None:
    """L3: appends and marks are answered while takes and followers block."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            follower = bus.output.follow("r")
            tasks = [asyncio.create_task(bus.queue.take(f"w{number}", 1, AN_HOUR)) for number in range(3)]
            following = asyncio.create_task(taken(follower, 1))
            await blocked(bus, 4)
            await bus.marks.set("r", Mark.RERUN, AN_HOUR)
            assert await bus.output.append(deltas("r", 0, 1), 1) == {Mark.RERUN}
            assert await following == [0]
            assert not any(task.done() for task in tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await follower.aclose()

    run(test())


def test_a_thousand_followers_share_a_few_connections() -> None:
    """1,000 followers of 1,000 runs each get their run's events over at most 16 connections in all."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            followers = [bus.output.follow(f"r{number}") for number in range(1000)]
            first = [asyncio.create_task(taken(follower, 1)) for follower in followers]
            await blocked(bus, lanes.LANES)
            await asyncio.gather(*(bus.output.append(deltas(f"r{number}", 0, 1), 1) for number in range(1000)))
            assert await asyncio.gather(*first) == [[0]] * 1000
            assert len(await connections(bus)) <= 16
            for follower in followers:
                await follower.aclose()

    run(test())


def test_a_lane_that_blocks_is_woken_by_who_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new follower does not wait for the lane's read to end: here that would take an hour."""
    monkeypatch.setattr(lanes, "LOOK_EVERY", AN_HOUR)

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            one, two = bus.output.follow("r1"), bus.output.follow("r2")
            first = asyncio.create_task(taken(one, 1))
            await blocked(bus, 1)
            second = asyncio.create_task(taken(two, 1))
            await asyncio.sleep(0)
            await bus.output.append(deltas("r2", 0, 1), 1)
            assert await second == [0]
            await bus.output.append(deltas("r1", 0, 1), 1)
            assert await first == [0]
            await one.aclose()
            await two.aclose()

    run(test())


def test_a_follower_that_joins_late_gets_everything_once() -> None:
    """Followers that begin at any moment of a run's life each get all its entries, in order, none twice."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            followers = []
            for seq in range(0, 60, 3):
                followers.append(asyncio.create_task(taken(bus.output.follow("r"), 60)))
                await bus.output.append(deltas("r", seq, seq + 3), 1)
            assert await asyncio.gather(*followers) == [list(range(60))] * 20

    run(test())


def test_a_follower_that_takes_nothing_holds_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """C4: what waits for a slow follower is bounded; it reads the rest from the server, nothing missing or twice."""
    monkeypatch.setattr(channel, "HELD", 20)

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            slow, quick = bus.output.follow("r"), bus.output.follow("r")
            await bus.output.append(deltas("r", 0, 1), 1)
            assert await taken(slow, 1) == [0]
            joining = asyncio.create_task(taken(slow, 1))
            await blocked(bus, 1)
            await bus.output.append(deltas("r", 1, 2), 1)
            assert await joining == [1]
            assert await taken(quick, 2) == [0, 1]
            for seq in range(2, 200):
                await bus.output.append(deltas("r", seq, seq + 1), 1)
                assert await taken(quick, 1) == [seq]
            assert await taken(slow, 198) == list(range(2, 200))
            await slow.aclose()
            await quick.aclose()

    run(test())


def test_an_entry_that_is_not_ours_ends_its_followers_alone() -> None:
    """Who follows a run into which somebody else has written is told; all other followers go on."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            one, two = bus.output.follow("r1"), bus.output.follow("r2")
            tasks = [asyncio.create_task(taken(follower, 1)) for follower in (one, two)]
            await blocked(bus, 1)
            await command(bus, "XADD", Keys(bus.prefix).output("r1"), "*", "what", "ever")
            with pytest.raises(ValueError, match="not enough values"):
                await tasks[0]
            await bus.output.append(deltas("r2", 0, 1), 1)
            assert await tasks[1] == [0]
            await two.aclose()

    run(test())


def test_a_send_that_is_cancelled_harms_nobody_else() -> None:
    """L2: cancelling who has just sent more than the socket takes leaves the shared connection whole."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            big = [Event("r", seq, EventKind.DELTA, "x" * 1_000_000) for seq in range(8)]
            task = asyncio.create_task(bus.output.append(big, 1))
            others = [asyncio.create_task(bus.marks.read(f"r{number}")) for number in range(10)]
            for _ in range(4):
                await asyncio.sleep(0)
            task.cancel()
            assert await asyncio.gather(*others) == [frozenset()] * 10
            assert len(await connections(bus)) == 1

    run(test())


def test_scripts_are_sent_again_after_a_restart() -> None:
    """A server that has forgotten the scripts gets them with the next call."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.redis_url) as bus:
            await bus.output.append(deltas("r", 0, 1), 1)
            await asyncio.to_thread(services.redis.restart, empty=True)
            assert await bus.output.append(deltas("r", 0, 2), 1) == frozenset()
            assert await bus.output.entries("r") == deltas("r", 0, 2)

    run(test())


@pytest.mark.parametrize("empty", [False, True])
def test_a_follower_outlives_a_restart(empty: bool) -> None:
    """A follower gets what is appended after a restart, and nothing twice, whether the data was kept or lost."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.redis_url) as bus, aclosing(bus.output.follow("r")) as follower:
            await bus.output.append(deltas("r", 0, 2), 1)
            assert await taken(follower, 2) == [0, 1]
            more = asyncio.create_task(taken(follower, 2))
            await blocked(bus, 1)
            await asyncio.to_thread(services.redis.restart, empty=empty)
            await bus.output.append(deltas("r", 2, 4), 1)
            assert await more == [2, 3]

    run(test())


def test_a_stream_that_begins_again_with_smaller_ids_is_read_from_its_start() -> None:
    """R6: after a restart with a clock set back, nothing is skipped because of where a follower stood."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.redis_url) as bus, aclosing(bus.output.follow("r")) as follower:
            await bus.output.append(deltas("r", 0, 3), 1)
            assert await taken(follower, 3) == [0, 1, 2]
            more = asyncio.create_task(taken(follower, 2))
            await blocked(bus, 1)
            await asyncio.to_thread(services.redis.restart, empty=True)
            for seq in (7, 8):
                await command(bus, "XADD", Keys(bus.prefix).output("r"), f"{seq}-1", "s", seq, "k", "delta", "d", "{}")
            assert await more == [7, 8]

    run(test())


def test_a_stream_that_is_replaced_is_noticed_without_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """R6: smaller ids are noticed although the connection was never lost, by old followers and by new ones."""
    monkeypatch.setattr(lanes, "LOOK_EVERY", timedelta(milliseconds=50))

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            key = Keys(bus.prefix).output("r")
            async with aclosing(bus.output.follow("r")) as old, aclosing(bus.output.follow("r")) as new:
                await bus.output.append(deltas("r", 0, 3), 1)
                assert await taken(old, 3) == [0, 1, 2]
                more = asyncio.create_task(taken(old, 2))
                await blocked(bus, 1)
                await command(bus, "UNLINK", key)
                await command(bus, "XADD", key, "7-1", "s", 7, "k", "delta", "d", "{}")
                assert await taken(new, 1) == [7]
                both = asyncio.create_task(taken(new, 1))
                await asyncio.sleep(0)
                await command(bus, "XADD", key, "8-1", "s", 8, "k", "delta", "d", "{}")
                assert await more == [7, 8]
                assert await both == [8]

    run(test())


def test_a_group_that_vanishes_under_a_take_is_made_again() -> None:
    """W10: a take that blocks when everything is lost gets the next entry, and asks no more than a few times."""

    async def test() -> None:
        async with opened(services_to_break().redis_url) as bus:
            task = asyncio.create_task(bus.queue.take("w", 1, AN_HOUR))
            await blocked(bus, 1)
            before = await calls_of(bus, "xreadgroup")
            await command(bus, "DEL", Keys(bus.prefix).input)
            await blocked(bus, 1)
            await bus.queue.put("s")
            assert [delivery.session_id for delivery in await task] == ["s"]
            assert await calls_of(bus, "xreadgroup") - before <= 2

    run(test())


async def calls_of(bus: RedisBus, name: str) -> int:
    """Return how often the server was asked this since it started."""
    reply = await command(bus, "INFO", "commandstats")
    assert isinstance(reply, bytes)
    found = re.search(rf"cmdstat_{name}:calls=(\d+)", reply.decode())
    return int(found[1]) if found else 0


def test_entries_that_were_deleted_are_not_reclaimed() -> None:
    """A pending entry that somebody deleted is passed over, those behind it are taken."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            for session_id in ("s1", "s2", "s3"):
                await bus.queue.put(session_id)
            first, second, third = await bus.queue.take("w1", 3, A_SECOND)
            await command(bus, "XDEL", Keys(bus.prefix).input, first.id)
            assert await bus.queue.reclaim("w2", timedelta(0), 2) == [second, third]

    run(test())


def test_a_long_list_of_pending_entries_is_reclaimed_whole() -> None:
    """The search goes on past the entries that the server looks at in one call."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            for number in range(50):
                await bus.queue.put(f"s{number}")
            deliveries = await bus.queue.take("w1", 50, A_SECOND)
            await command(bus, "XDEL", Keys(bus.prefix).input, *(delivery.id for delivery in deliveries[:49]))
            assert await bus.queue.reclaim("w2", timedelta(0), 1) == [Delivery(deliveries[49].id, "s49")]

    run(test())


def test_a_stream_whose_writer_is_lost_does_not_stay() -> None:
    """Streams and fences have a life from their first entry on; `expire` shortens it, appends do not touch it."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            keys = Keys(bus.prefix)
            await bus.output.append(deltas("r", 0, 1), 1)
            for key in (keys.output("r"), keys.fence("r")):
                life = await command(bus, "PTTL", key)
                assert isinstance(life, int) and life > 23 * 3_600_000
            await bus.output.expire("r", AN_HOUR)
            await bus.output.append(deltas("r", 1, 2), 2)
            for key in (keys.output("r"), keys.fence("r")):
                life = await command(bus, "PTTL", key)
                assert isinstance(life, int) and 3_500_000 < life <= 3_600_000

    run(test())


def test_a_lost_service_is_unavailable_and_comes_back() -> None:
    """Calls raise while the server is away and work again once it is back, without a new bus."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.redis_url) as bus:
            await bus.marks.set("r", Mark.CANCEL, AN_HOUR)
            services.redis.stop()
            for call in (bus.ping(), bus.marks.read("r"), bus.queue.depth(), bus.queue.take("w", 1, AN_HOUR)):
                with pytest.raises(Unavailable, match=rf"^the bus is away: {services.redis.address}: "):
                    await call
            services.redis.start()
            assert await bus.marks.read("r") == {Mark.CANCEL}

    run(test())


def test_a_service_that_keeps_silent_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes connections and answers nothing is away, for the bus that has one and for one that begins."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.redis_url) as bus:
            services.redis.pause()
            try:
                monkeypatch.setattr(connect, "START_S", 0.3)  # not while it answers: a busy machine takes longer
                with pytest.raises(Unavailable, match="did not answer within"):
                    await bus.ping()
                with pytest.raises(Unavailable, match="did not answer within"):
                    await RedisBus.connect(services.redis_url, prefix="never")
            finally:
                services.redis.resume()
                monkeypatch.undo()
            await bus.ping()

    run(test())


def test_a_closed_bus_refuses_calls() -> None:
    """After `close`, which may come twice, every call is refused."""

    async def test() -> None:
        bus = await RedisBus.connect(real_urls().redis, prefix=own_name())
        await bus.close()
        await bus.close()
        for call in (bus.ping(), bus.marks.read("r"), bus.queue.take("w", 1, A_SECOND)):
            with pytest.raises(Unavailable, match="was closed"):
                await call

    run(test())


@pytest.mark.parametrize(("dead_after", "left"), [(NOTHING, ["held", "me"]), (AN_HOUR, ["gone", "held", "me"])])
def test_workers_that_are_gone_are_forgotten(
    dead_after: timedelta, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was silent for long and has nothing pending is no consumer any more; what others left pending is there."""
    monkeypatch.setattr(input_queue, "DEAD_AFTER", dead_after)

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            assert await bus.queue.reclaim("me", AN_HOUR, 16) == []  # the first to come finds no group
            for consumer in ("gone", "held"):
                await bus.queue.put(consumer)
            await bus.queue.acknowledge(await bus.queue.take("gone", 1, NOTHING))
            await bus.queue.take("held", 1, NOTHING)
            async with opened(real_urls().redis, bus.prefix) as later:
                assert [each.session_id for each in await later.queue.reclaim("me", NOTHING, 16)] == ["held"]
                assert await consumers(later) == left

    run(test())


@pytest.mark.parametrize(
    "fields", [("s", "1", "k", "novel", "d", "{}"), ("s", "x", "k", "delta", "d", "{}"), ("a", "b")]
)
def test_a_run_can_be_taken_over_whatever_a_later_version_wrote(fields: Sequence[str]) -> None:
    """What cannot be read is left out of what a stream holds; all else of it is there."""

    async def test() -> None:
        async with opened(real_urls().redis) as bus:
            await bus.output.append(deltas("r", 0, 1), 1)
            await command(bus, "XADD", Keys(bus.prefix).output("r"), "*", *fields)
            await bus.output.append(deltas("r", 2, 3), 1)
            assert await bus.output.entries("r") == [*deltas("r", 0, 1), *deltas("r", 2, 3)]

    run(test())


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
def test_a_connection_that_was_reset_between_two_reads_is_a_loss(
    runner: Callable[[Coroutine[None, None, None]], None],
) -> None:
    """A lane that rests meanwhile hears of it as of any other, and reads on: whichever loop has which word for it."""
    parted = asyncio.Semaphore(0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while count := await reader.readline():
            words = [(await reader.readline(), (await reader.readline()).strip())[1] for _ in range(int(count[1:]))]
            if words == [b"RESET"]:
                abort(writer.transport)
            else:
                writer.write(b"+OK\r\n")
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        parted.release()

    async def test() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
            server = connect.Server(f"redis://127.0.0.1:{listening.sockets[0].getsockname()[1]}", "test")
            with pytest.raises(Unavailable):
                async with server.line() as line:
                    assert await line.call(pack("PING")) == b"OK"
                    await line._send(pack("RESET"))
                    await parted.acquire()
                    writer = line._connection._writer
                    assert writer is not None
                    while not writer.transport.is_closing():  # noqa: ASYNC110  # it tells only who reads
                        await asyncio.sleep(0)
                    await line.call(pack("PING"))
            async with server.line() as line:
                assert await line.call(pack("PING")) == b"OK"
            await server.close()
            await parted.acquire()

    runner(test())


def test_a_lane_outlives_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """What nobody foresaw is logged, and the lane reads on: its followers miss nothing."""
    read_once, faults = lanes.Lane._read_once, [ZeroDivisionError("ours")]

    async def read_badly(lane: lanes.Lane, line: connect.Line) -> None:
        if faults:
            raise faults.pop()
        await read_once(lane, line)

    monkeypatch.setattr(lanes.Lane, "_read_once", read_badly)

    async def test() -> None:
        async with opened(real_urls().redis) as bus, aclosing(bus.output.follow("r")) as follower:
            joining = asyncio.create_task(taken(follower, 1))
            await blocked(bus, 1)
            await bus.output.append(deltas("r", 0, 1), 1)
            assert await joining == [0]

    run(test())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == ["lane_crashed"]


def test_deleting_a_prefix_leaves_all_other_keys() -> None:
    """What is deleted begins with the prefix as it is written, not as a pattern, and with a colon behind it."""

    async def test() -> None:
        name = own_name()
        async with opened(real_urls().redis, f"{name}*") as star, opened(real_urls().redis, f"{name}x") as other:
            for bus in (star, other):
                await bus.queue.put("s")
            await delete_prefix(real_urls().redis, f"{name}*")
            assert [await star.queue.depth(), await other.queue.depth()] == [0, 1]
            await delete_prefix(real_urls().redis, name)
            assert await other.queue.depth() == 1

    run(test())


def test_a_server_that_has_become_a_replica_is_left() -> None:
    """Each connection that is refused a write is given up: behind the address there may be another server by now."""

    async def test() -> None:
        url = services_to_break().redis_url
        async with opened(url) as bus, opened(url) as beside:
            await bus.queue.take("w", 1, timedelta(milliseconds=1))
            before = {line.split()[0] for line in await connections(bus, asked=beside)}
            assert len(before) == 2
            await command(beside, "REPLICAOF", "127.0.0.1", "1")
            try:
                with pytest.raises(Unavailable, match="read only replica"):
                    await bus.output.append(deltas("r", 0, 1), 1)
                with pytest.raises(Unavailable, match="read only replica"):
                    await bus.queue.take("w", 1, timedelta(milliseconds=1))
            finally:
                await command(beside, "REPLICAOF", "NO", "ONE")
            assert await bus.output.append(deltas("r", 0, 1), 1) == frozenset()
            await bus.queue.put("s")
            assert [each.session_id for each in await bus.queue.take("w", 1, timedelta(seconds=1))] == ["s"]
            after = {line.split()[0] for line in await connections(bus, asked=beside)}
            assert len(after) == 2 and not after & before

    run(test())


def test_an_address_may_have_options() -> None:
    """Those of connections count. That replies are bytes, and how many connections there are, is decided here."""

    async def test() -> None:
        options = "?socket_keepalive=yes&decode_responses=true&protocol=3&max_connections=1&timeout=0&retry_on_error=x"
        async with opened(real_urls().redis + options) as bus:
            await bus.queue.put("s")
            assert [each.session_id for each in await bus.queue.take("w", 1, timedelta(seconds=1))] == ["s"]

    run(test())


async def refusal(url: str) -> str:
    """Return what is said about an address that cannot be used; after 3 s at the most, on a calm machine."""
    with pytest.raises(Unavailable) as caught:
        async with asyncio.timeout(15):
            await RedisBus.connect(url, prefix="never")
    return f"{type(caught.value).__name__}: {caught.value}"


def test_what_cannot_be_used_is_told_in_one_line() -> None:
    """Each line names the address and what to do, and no password."""

    async def test() -> None:
        services = services_to_break()
        address = services.redis.address
        assert await refusal(f"redis://:wrong-secret@{address}/0") == (
            f"Misconfigured: bus: {address} refuses our user name or password; "
            "mend REDIS_URL: redis://user:password@host:port/0"
        )
        assert (await refusal(f"redis://{address}/0")).startswith(f"Misconfigured: bus: {address} refuses our user")
        assert await refusal("http://:secret@localhost") == (
            "Misconfigured: bus: REDIS_URL is not an address; write redis://user:password@host:port/0"
        )
        assert "secret" not in await refusal("redis://:secret/more@localhost/0")
        assert await refusal("redis://:secret@localhost/0?pasword=secret") == (
            "Misconfigured: bus: REDIS_URL has an option, behind its question mark, that is of no use here; "
            "mend REDIS_URL: redis://user:password@host:port/0"
        )
        assert (await refusal("redis://:secret@127.0.0.1:1/0")).startswith(
            "Unavailable: the bus is away: 127.0.0.1:1: Error 111 connecting to 127.0.0.1:1."
        )
        assert "no-such-host.invalid:6379" in await refusal("redis://:secret@no-such-host.invalid/0")

    run(test())


@pytest.mark.parametrize(
    ("about", "line"),
    [
        (
            "redis_version:6.0.16\r\nredis_mode:standalone",
            "the Redis at {address} is version 6.0.16, which is too old; give it Redis 6.2 or newer, or Valkey",
        ),
        (
            "redis_version:7.4.1\r\nredis_mode:cluster",
            "{address} is a node of a cluster, and a lane reads streams of many slots at once; give it a single server",
        ),
    ],
)
def test_a_server_that_will_not_do_is_refused(about: str, line: str) -> None:
    """What lacks a command that only a crash of a worker would call for is refused at the start."""
    parted = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while count := await reader.readline():
            words = []
            for _ in range(int(count[1:])):
                await reader.readline()
                words.append((await reader.readline()).strip())
            reply = f"# Server\r\n{about}\r\n".encode()
            writer.write(b"$%d\r\n%b\r\n" % (len(reply), reply) if words[0] == b"INFO" else b"+OK\r\n")
        writer.close()
        await writer.wait_closed()
        parted.set()

    async def test() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()[:2]
            expected = line.format(address=f"{host}:{port}")
            assert await refusal(f"redis://{host}:{port}") == f"Misconfigured: bus: {expected}"
            await parted.wait()

    run(test())


def test_a_user_without_rights_is_told_what_is_missing() -> None:
    """A user that may connect and no more is refused by name of the command."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.redis_url) as bus:
            await command(bus, "ACL", "SETUSER", "narrow", "on", ">secret", "~*", "+ping", "+client")
            with pytest.raises(Misconfigured, match=r"no permissions to run the 'info' command.*; give the user the"):
                await RedisBus.connect(f"redis://narrow:secret@{services.redis.address}/0", prefix="never")

    run(test())
