"""The contract of `OutputStream`: what is appended, who may append, and how long it lives."""

import asyncio

import pytest

from shared.errors import Fenced
from shared.events import Event, EventKind, encode_data
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import A_MOMENT, AN_HOUR, NOTHING, delta, deltas, done, until


@on_each_adapter
async def test_an_unknown_run_has_no_entries(ports: Ports) -> None:
    """A run nobody wrote has no entries, and looking makes none."""
    assert list(await ports.output.entries("r")) == []
    assert list(await ports.output.entries("r")) == []


@on_each_adapter
async def test_entries_come_back_whole_and_in_order(ports: Ports) -> None:
    """What was appended comes back as it was, in the order of arrival, over several appends."""
    events = [*deltas("r", 0, 3), done("r", 3)]
    await ports.output.append(events[:1], 1)
    await ports.output.append(events[1:], 1)
    assert list(await ports.output.entries("r")) == events


@on_each_adapter
async def test_any_text_comes_back_unchanged(ports: Ports) -> None:
    """Empty texts (O3), quotes, line breaks and characters beyond the basic plane come back byte for byte."""
    texts = ["", " ", '"', "\\", "\r\n", "\u2028\x85", "é", "🍵", "\ufffd", "x" * 8000]
    events = [Event("r", seq, EventKind.DELTA, encode_data({"text": text})) for seq, text in enumerate(texts)]
    await ports.output.append(events, 1)
    assert list(await ports.output.entries("r")) == events


@on_each_adapter
async def test_every_kind_of_event_comes_back_as_itself(ports: Ports) -> None:
    """The kind of an entry is the kind that was appended."""
    events = [Event("r", seq, kind, "{}") for seq, kind in enumerate(EventKind)]
    await ports.output.append(events, 1)
    assert list(await ports.output.entries("r")) == events


@on_each_adapter
async def test_the_stream_keeps_arrival_order_and_duplicates(ports: Ports) -> None:
    """The stream does not look at seqs: late ones stay late, and what comes twice is there twice."""
    events = [delta("r", 2), delta("r", 0), delta("r", 2), delta("r", 1)]
    await ports.output.append(events, 1)
    await ports.output.append(events[:1], 1)
    assert list(await ports.output.entries("r")) == [*events, events[0]]


@on_each_adapter
async def test_streams_belong_to_one_run(ports: Ports) -> None:
    """Runs do not meet, also when their ids begin alike or look like keys."""
    run_ids = ["r", "r1", "r:1", "{r}", "r*"]
    for run_id in run_ids:
        await ports.output.append([delta(run_id, 0)], 1)
    assert [list(await ports.output.entries(run_id)) for run_id in run_ids] == [[delta(r, 0)] for r in run_ids]


@on_each_adapter
async def test_one_append_is_in_one_piece(ports: Ports) -> None:
    """Two writers at once, both allowed to write, never get between each other's events of one call."""
    batches = [[delta("r", seq, f"writer {writer}") for seq in range(20)] for writer in range(10)]
    await asyncio.gather(*(ports.output.append(batch, 1) for batch in batches))
    entries = list(await ports.output.entries("r"))
    found = [entries[place : place + 20] for place in range(0, len(entries), 20)]
    assert sorted(found, key=lambda batch: batch[0].data) == batches


@on_each_adapter
async def test_a_lower_attempt_is_fenced(ports: Ports) -> None:
    """The first append of a higher attempt shuts out the lower one, whose append leaves nothing behind (O5, W2)."""
    await ports.output.append([delta("r", 0)], 1)
    await ports.output.append([delta("r", 1)], 2)
    with pytest.raises(Fenced) as refused:
        await ports.output.append(deltas("r", 1, 4), 1)
    assert (refused.value.run_id, refused.value.attempt) == ("r", 1)
    assert list(await ports.output.entries("r")) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_the_current_attempt_writes_on_after_it_fenced_another(ports: Ports) -> None:
    """A refused append of somebody else does not disturb the one who may write."""
    await ports.output.append([delta("r", 0)], 2)
    with pytest.raises(Fenced):
        await ports.output.append([delta("r", 1, "zombie")], 1)
    await ports.output.append([delta("r", 1)], 2)
    assert list(await ports.output.entries("r")) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_a_raised_fence_refuses_before_anything_is_written(ports: Ports) -> None:
    """Raising the fence shuts out lower attempts, lets its own pass, and adds no entry."""
    await ports.output.raise_fence("r", 2)
    assert list(await ports.output.entries("r")) == []
    with pytest.raises(Fenced):
        await ports.output.append([delta("r", 0)], 1)
    await ports.output.append([delta("r", 0)], 2)
    assert list(await ports.output.entries("r")) == [delta("r", 0)]


@on_each_adapter
async def test_the_fence_is_never_lowered(ports: Ports) -> None:
    """Raising it to less than it is, or to the same again, changes nothing. Attempts are numbers: 10 is above 9."""
    await ports.output.raise_fence("r", 10)
    await ports.output.raise_fence("r", 10)
    await ports.output.raise_fence("r", 9)
    with pytest.raises(Fenced):
        await ports.output.append([delta("r", 0)], 9)
    await ports.output.append([delta("r", 0)], 10)
    await ports.output.append([delta("r", 1)], 11)
    with pytest.raises(Fenced):
        await ports.output.append([delta("r", 2)], 10)
    assert list(await ports.output.entries("r")) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_a_fence_belongs_to_one_run(ports: Ports) -> None:
    """One run's fence refuses nobody in another run."""
    await ports.output.raise_fence("r1", 5)
    await ports.output.append([delta("r", 0)], 1)
    assert list(await ports.output.entries("r")) == [delta("r", 0)]


@on_each_adapter
async def test_a_run_nobody_claimed_can_be_written(ports: Ports) -> None:
    """Attempt 0 may write: a pending run that is cancelled has its one event from there. Attempt 1 shuts it out."""
    await ports.output.append([delta("r", 0)], 0)
    await ports.output.append([delta("r", 1)], 1)
    with pytest.raises(Fenced):
        await ports.output.append([delta("r", 2)], 0)
    assert list(await ports.output.entries("r")) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_an_expired_stream_is_gone(ports: Ports) -> None:
    """After its time a stream has no entries; another run's is untouched."""
    await ports.output.append(deltas("r", 0, 3), 1)
    await ports.output.append([delta("r1", 0)], 1)
    await ports.output.expire("r", NOTHING)
    assert list(await ports.output.entries("r")) == []
    assert list(await ports.output.entries("r1")) == [delta("r1", 0)]


@on_each_adapter
async def test_a_stream_lives_until_it_expires(ports: Ports) -> None:
    """Expiring later changes nothing now, for readers and for writers."""
    await ports.output.append([delta("r", 0)], 1)
    await ports.output.expire("r", AN_HOUR)
    await ports.output.append([delta("r", 1)], 1)
    assert list(await ports.output.entries("r")) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_an_append_does_not_prolong_a_stream(ports: Ports) -> None:
    """What is appended after `expire` goes with the rest, at the time that was said."""
    both, ttl = [delta("r", 0), delta("r", 1)], 20 * A_MOMENT
    while list(await ports.output.entries("r")) != both:  # on a busy machine the time may be over before the append
        await ports.output.expire("r", NOTHING)
        await ports.output.append(both[:1], 1)
        await ports.output.expire("r", ttl)
        await ports.output.append(both[1:], 1)
        ttl *= 2

    async def is_gone() -> bool:
        return not await ports.output.entries("r")

    await until(is_gone)


@on_each_adapter
async def test_the_fence_goes_with_the_stream(ports: Ports) -> None:
    """When the time is over any attempt may write again: the run is over, and keys must not pile up."""
    await ports.output.append([delta("r", 0)], 3)
    await ports.output.expire("r", NOTHING)
    await ports.output.append([delta("r", 1)], 1)
    assert list(await ports.output.entries("r")) == [delta("r", 1)]


@on_each_adapter
async def test_the_fence_stands_until_it_expires(ports: Ports) -> None:
    """An end that is an hour away lets no zombie in, whoever appends meanwhile."""
    await ports.output.append([delta("r", 0)], 2)
    await ports.output.expire("r", AN_HOUR)
    await ports.output.append([delta("r", 1)], 3)
    with pytest.raises(Fenced):
        await ports.output.append([delta("r", 2)], 2)
    assert list(await ports.output.entries("r")) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_expiring_what_is_not_there_is_fine(ports: Ports) -> None:
    """Neither an unknown run nor one that is gone already minds, and a stream that begins later lives."""
    await ports.output.expire("r", AN_HOUR)
    await ports.output.expire("r", NOTHING)
    await ports.output.append([delta("r", 0)], 1)
    assert list(await ports.output.entries("r")) == [delta("r", 0)]


@on_each_adapter
async def test_a_flushed_stream_begins_again(ports: Ports) -> None:
    """A service that restarted empty has neither entries nor fences, and takes new ones (W10)."""
    await ports.output.append(deltas("r", 0, 3), 2)
    await ports.flush()
    assert list(await ports.output.entries("r")) == []
    await ports.output.append([delta("r", 3)], 1)
    assert list(await ports.output.entries("r")) == [delta("r", 3)]
