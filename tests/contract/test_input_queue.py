"""The contract of `InputQueue`: shared out, pending until acknowledged, made anew after a flush."""

import asyncio

from shared.ports import Delivery, InputQueue
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import A_MOMENT, AN_HOUR, NOTHING


async def take(queue: InputQueue, consumer: str, count: int = 100) -> list[Delivery]:
    """Take what is there now."""
    return list(await queue.take(consumer, count, NOTHING))


def sessions(deliveries: list[Delivery]) -> list[str]:
    """Return what the deliveries ring for."""
    return [delivery.session_id for delivery in deliveries]


@on_each_adapter
async def test_an_empty_queue_answers_empty(ports: Ports) -> None:
    """A queue that nobody rang has nothing to take or reclaim, and depth 0. Looking is not waiting."""
    assert await take(ports.queue, "a") == []
    assert list(await ports.queue.reclaim("a", NOTHING, 10)) == []
    assert await ports.queue.depth() == 0


@on_each_adapter
async def test_an_entry_is_taken_once(ports: Ports) -> None:
    """Each entry goes to one consumer, once, oldest first."""
    for session_id in ["s1", "s2", "s3"]:
        await ports.queue.put(session_id)
    first = await take(ports.queue, "a", 2)
    assert sessions(first) == ["s1", "s2"]
    assert sessions(await take(ports.queue, "b", 2)) == ["s3"]
    assert await take(ports.queue, "a") == []


@on_each_adapter
async def test_the_group_begins_at_the_beginning(ports: Ports) -> None:
    """What was put before any consumer looked is not lost."""
    await ports.queue.put("s1")
    assert await ports.queue.depth() == 1
    assert sessions(await take(ports.queue, "a")) == ["s1"]


@on_each_adapter
async def test_a_session_rings_as_often_as_it_was_put(ports: Ports) -> None:
    """Two rings of one session are two deliveries with ids of their own; any session id comes back unchanged."""
    names = ["s", "s", "S", "ß {} 🍵"]
    for session_id in names:
        await ports.queue.put(session_id)
    taken = await take(ports.queue, "a")
    assert sessions(taken) == names
    assert len({delivery.id for delivery in taken}) == 4


@on_each_adapter
async def test_a_waiting_consumer_is_woken(ports: Ports) -> None:
    """Who waits on the empty queue gets the entry that comes."""
    waiting = asyncio.create_task(ports.queue.take("a", 1, AN_HOUR))
    await asyncio.sleep(0)
    await ports.queue.put("s")
    assert sessions(list(await waiting)) == ["s"]


@on_each_adapter
async def test_a_consumer_that_waited_for_nothing_misses_nothing(ports: Ports) -> None:
    """A wait that ends empty answers empty; what comes between two waits is taken by the second (R6)."""
    assert list(await ports.queue.take("a", 1, 5 * A_MOMENT)) == []
    await ports.queue.put("s")
    assert sessions(list(await ports.queue.take("a", 1, AN_HOUR))) == ["s"]


@on_each_adapter
async def test_waiting_consumers_share_out(ports: Ports) -> None:
    """Of several who wait, each entry wakes one for good; the others go on waiting for theirs."""
    waiting = [asyncio.create_task(ports.queue.take(f"c{place}", 1, AN_HOUR)) for place in range(4)]
    await asyncio.sleep(0)
    for place in range(4):
        await ports.queue.put(f"s{place}")
    taken = [list(deliveries) for deliveries in await asyncio.gather(*waiting)]
    assert sorted(sessions(deliveries) for deliveries in taken) == [["s0"], ["s1"], ["s2"], ["s3"]]


@on_each_adapter
async def test_takes_at_once_never_share_an_entry(ports: Ports) -> None:
    """Twenty takes at once hand out fifty entries, each of them once."""
    for place in range(50):
        await ports.queue.put(f"s{place:02}")
    taken = await asyncio.gather(*(take(ports.queue, f"c{place % 4}", 3) for place in range(20)))
    assert sorted(session_id for deliveries in taken for session_id in sessions(deliveries)) == [
        f"s{place:02}" for place in range(50)
    ]


@on_each_adapter
async def test_a_cancelled_wait_takes_nothing(ports: Ports) -> None:
    """An entry that comes after a consumer gave up waiting goes to the next one."""
    waiting = asyncio.create_task(ports.queue.take("a", 1, AN_HOUR))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await ports.queue.put("s")
    assert sessions(list(await ports.queue.take("b", 1, AN_HOUR))) == ["s"]


@on_each_adapter
async def test_depth_counts_waiting_and_pending(ports: Ports) -> None:
    """Taking leaves the depth as it is, acknowledging lowers it."""
    for session_id in ["s1", "s2", "s3"]:
        await ports.queue.put(session_id)
    taken = await take(ports.queue, "a", 2)
    assert await ports.queue.depth() == 3
    await ports.queue.acknowledge(taken)
    assert await ports.queue.depth() == 1


@on_each_adapter
async def test_what_is_acknowledged_is_gone(ports: Ports) -> None:
    """An acknowledged entry is neither taken nor reclaimed again; once more, or for nothing, is fine."""
    await ports.queue.put("s1")
    await ports.queue.put("s2")
    first, second = await take(ports.queue, "a")
    await ports.queue.acknowledge([first])
    await ports.queue.acknowledge([first])
    await ports.queue.acknowledge([])
    assert await ports.queue.depth() == 1
    assert list(await ports.queue.reclaim("b", NOTHING, 10)) == [second]
    await ports.queue.acknowledge([first, second, second])
    assert await ports.queue.depth() == 0
    assert list(await ports.queue.reclaim("b", NOTHING, 10)) == []
    assert await take(ports.queue, "b") == []


@on_each_adapter
async def test_what_a_dead_consumer_left_is_reclaimed(ports: Ports) -> None:
    """Pending entries change hands oldest first, up to the count, and keep their ids."""
    for place in range(5):
        await ports.queue.put(f"s{place}")
    taken = await take(ports.queue, "dead")
    assert list(await ports.queue.reclaim("b", NOTHING, 2)) == taken[:2]
    await ports.queue.acknowledge(taken[:2])
    assert list(await ports.queue.reclaim("b", NOTHING, 10)) == taken[2:]
    assert await take(ports.queue, "b") == []


@on_each_adapter
async def test_only_what_has_been_idle_is_reclaimed(ports: Ports) -> None:
    """A young delivery stays with its consumer, and what nobody has had is not pending."""
    await ports.queue.put("s1")
    taken = await take(ports.queue, "a")
    await ports.queue.put("s2")
    assert list(await ports.queue.reclaim("b", AN_HOUR, 10)) == []
    assert list(await ports.queue.reclaim("b", NOTHING, 10)) == taken
    assert sessions(await take(ports.queue, "b")) == ["s2"]


@on_each_adapter
async def test_a_consumer_reclaims_its_own(ports: Ports) -> None:
    """Who restarts under the same name gets back what it had before."""
    await ports.queue.put("s")
    taken = await take(ports.queue, "a")
    assert list(await ports.queue.reclaim("a", NOTHING, 10)) == taken


@on_each_adapter
async def test_the_first_owner_may_acknowledge_what_was_reclaimed(ports: Ports) -> None:
    """Acknowledging is by entry, not by consumer: work that was done after all is done."""
    await ports.queue.put("s")
    taken = await take(ports.queue, "slow")
    await ports.queue.reclaim("b", NOTHING, 10)
    await ports.queue.acknowledge(taken)
    assert list(await ports.queue.reclaim("b", NOTHING, 10)) == []
    assert await ports.queue.depth() == 0


@on_each_adapter
async def test_taking_after_a_flush_finds_a_new_queue(ports: Ports) -> None:
    """The group is made anew from the beginning: nothing old, nothing new missed (W10)."""
    await ports.queue.put("old")
    await take(ports.queue, "a")
    await ports.flush()
    await ports.queue.put("new")
    assert sessions(await take(ports.queue, "a")) == ["new"]
    await ports.flush()
    assert await take(ports.queue, "a") == []
    await ports.queue.put("newer")
    assert sessions(await take(ports.queue, "a")) == ["newer"]


@on_each_adapter
async def test_every_call_survives_a_flush(ports: Ports) -> None:
    """Depth, reclaim and acknowledge answer as on an empty queue when they come first after a flush (W10)."""
    await ports.queue.put("s")
    taken = await take(ports.queue, "a")
    await ports.flush()
    assert await ports.queue.depth() == 0
    await ports.flush()
    assert list(await ports.queue.reclaim("a", NOTHING, 10)) == []
    await ports.flush()
    await ports.queue.acknowledge(taken)
    await ports.queue.put("s")
    assert sessions(await take(ports.queue, "a")) == ["s"]


@on_each_adapter
async def test_a_waiting_consumer_survives_a_flush(ports: Ports) -> None:
    """Who waits while the service restarts empty gets what is put afterwards (W10)."""
    await take(ports.queue, "a")
    waiting = asyncio.create_task(ports.queue.take("a", 1, AN_HOUR))
    await asyncio.sleep(0)
    await ports.flush()
    await ports.queue.put("s")
    assert sessions(list(await waiting)) == ["s"]
