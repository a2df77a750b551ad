"""The model of Redis Streams: ids, ranges, groups and pending entries."""

import pytest

from shared.adapters.memory.streams import START, EntryId, EntryIds, Group, Pending, Stream


def ids(*milliseconds: int) -> list[str]:
    """Return the ids that a source gives when its clock reads these milliseconds, one after the other."""
    clock = iter(milliseconds)
    source = EntryIds(lambda: next(clock))
    return [source.next().text for _ in milliseconds]


def filled(count: int) -> Stream[str]:
    """Return a stream of `count` entries with the ids 5-0, 5-1 and so on, and the values a, b and so on."""
    stream: Stream[str] = Stream()
    for n in range(count):
        stream.append(EntryId(5, n), chr(ord("a") + n))
    return stream


def test_ids_grow_within_one_millisecond() -> None:
    """The number behind the milliseconds tells entries of one millisecond apart, and starts at 0 in the next (R7)."""
    assert ids(5, 5, 5, 6, 6) == ["5-0", "5-1", "5-2", "6-0", "6-1"]


def test_ids_grow_when_the_clock_goes_back() -> None:
    """A clock that is behind the last id changes nothing but the number, until it has caught up."""
    assert ids(9, 3, 3, 9, 10, 1) == ["9-0", "9-1", "9-2", "9-3", "10-0", "10-1"]


def test_ids_compare_as_numbers() -> None:
    """9 milliseconds are before 10, and the ninth entry before the tenth; a text is read back to the same id."""
    assert EntryId(9, 10) < EntryId(10, 9) < EntryId(10, 10)
    assert EntryId.parse(EntryId(10, 9).text) == EntryId(10, 9)


@pytest.mark.parametrize("text", ["", "5", "5-", "a-b", "1-2-3"])
def test_what_is_no_id_is_refused(text: str) -> None:
    """Reading an id that is none raises ValueError."""
    with pytest.raises(ValueError, match=r".+"):
        EntryId.parse(text)


def test_a_stream_only_grows() -> None:
    """An id that is not above every one before, deleted ones included, is refused and nothing is added."""
    stream = filled(2)
    stream.delete([EntryId(5, 1)])
    for late in [EntryId(5, 1), EntryId(5, 0), EntryId(4, 9), START]:
        with pytest.raises(ValueError, match=f"{late.text} is not after 5-1"):
            stream.append(late, "late")
    stream.append(EntryId(5, 2), "c")
    assert stream.values() == ["a", "c"]


def test_reading_after_an_id_leaves_it_out() -> None:
    """`after` begins behind the position, whether an entry has it or not, and stops at the count."""
    stream = filled(3)
    a, b, c = [(EntryId(5, n), value) for n, value in enumerate("abc")]
    assert stream.after(START) == [a, b, c]
    assert stream.after(EntryId(5, 0)) == [b, c]
    assert stream.after(EntryId(5, 0), 1) == [b]
    assert stream.after(EntryId(4, 99)) == [a, b, c]
    assert stream.after(EntryId(5, 2)) == []


def test_a_range_includes_its_ends() -> None:
    """`range` returns what lies between two ids, both of them too."""
    stream = filled(4)
    assert [value for _, value in stream.range(EntryId(5, 1), EntryId(5, 2))] == ["b", "c"]
    assert [value for _, value in stream.range(START, EntryId(9, 0))] == ["a", "b", "c", "d"]
    assert stream.range(EntryId(6, 0), EntryId(9, 0)) == []


def test_deleting_counts_what_was_there() -> None:
    """Entries are deleted once; the others stay where they are."""
    stream = filled(3)
    assert stream.delete([EntryId(5, 1), EntryId(5, 1), EntryId(7, 0)]) == 1
    assert (stream.values(), len(stream)) == (["a", "c"], 2)
    assert (stream.get(EntryId(5, 1)), stream.get(EntryId(5, 2))) == (None, "c")


def test_a_group_is_made_at_the_beginning() -> None:
    """A group gets what was there before it; the same name is the same group, another name shares nothing with it."""
    stream = filled(2)
    group = stream.group("workers")
    assert (group.last_delivered, group.pending) == (START, {})
    assert [value for _, value in group.deliver("a", 10, 0.0)] == ["a", "b"]
    assert stream.group("workers") is group
    assert [value for _, value in stream.group("others").deliver("a", 10, 0.0)] == ["a", "b"]


def test_delivered_entries_are_pending() -> None:
    """Who has an entry, since when and how often it was delivered is kept until it is acknowledged."""
    group = filled(3).group("workers")
    group.deliver("a", 2, 1.5)
    group.deliver("b", 2, 2.5)
    assert group.last_delivered == EntryId(5, 2)
    assert group.pending == {
        EntryId(5, 0): Pending("a", 1.5, 1),
        EntryId(5, 1): Pending("a", 1.5, 1),
        EntryId(5, 2): Pending("b", 2.5, 1),
    }
    assert group.acknowledge([EntryId(5, 0), EntryId(5, 0), EntryId(9, 9)]) == 1
    assert list(group.pending) == [EntryId(5, 1), EntryId(5, 2)]


def test_an_entry_deleted_before_its_turn_is_not_delivered() -> None:
    """The group goes on behind the hole."""
    stream = filled(3)
    stream.delete([EntryId(5, 0)])
    assert [value for _, value in stream.group("workers").deliver("a", 1, 0.0)] == ["b"]


def reclaimed(group: Group[str], idle: float, now: float, count: int = 10) -> list[str]:
    """Let consumer z reclaim, and return the values it got."""
    return [value for _, value in group.reclaim("z", idle, count, now)]


def test_entries_are_reclaimed_when_they_have_been_idle() -> None:
    """Exactly the idle time is enough; reclaiming starts it again, changes the owner and counts a delivery."""
    group = filled(2).group("workers")
    group.deliver("a", 1, 10.0)
    group.deliver("b", 1, 11.0)
    assert reclaimed(group, 5.0, 14.9) == []
    assert reclaimed(group, 5.0, 15.0) == ["a"]
    assert group.pending == {EntryId(5, 0): Pending("z", 15.0, 2), EntryId(5, 1): Pending("b", 11.0, 1)}
    assert reclaimed(group, 5.0, 16.0) == ["b"]
    assert reclaimed(group, 5.0, 19.9) == []
    assert reclaimed(group, 5.0, 20.0) == ["a"]


def test_a_reclaimed_entry_keeps_its_place() -> None:
    """The oldest comes first by its id, not by its last delivery."""
    group = filled(3).group("workers")
    group.deliver("a", 3, 0.0)
    assert reclaimed(group, 0.0, 1.0, count=2) == ["a", "b"]
    assert reclaimed(group, 0.0, 2.0) == ["a", "b", "c"]


def test_a_pending_entry_that_was_deleted_is_forgotten() -> None:
    """Deleting leaves it pending, as in Redis; the next reclaim drops it and counts only what it can give."""
    stream = filled(3)
    group = stream.group("workers")
    group.deliver("a", 3, 0.0)
    stream.delete([EntryId(5, 0)])
    assert len(group.pending) == 3
    assert reclaimed(group, 0.0, 1.0, count=1) == ["b"]
    assert list(group.pending) == [EntryId(5, 1), EntryId(5, 2)]


def test_a_reclaim_gives_the_entry_that_is_falsy_too() -> None:
    """An empty value is a value."""
    stream: Stream[str] = Stream()
    stream.append(EntryId(1, 0), "")
    group = stream.group("workers")
    assert group.deliver("a", 1, 0.0) == [(EntryId(1, 0), "")]
    assert reclaimed(group, 0.0, 0.0) == [""]
