"""What a lane gives to its followers, told without a server."""

import asyncio

from shared.adapters.redis.channel import HELD, Channel, Follower
from shared.adapters.redis.entries import START, order
from shared.adapters.redis.protocol import Reply
from shared.events import Event, EventKind


def entry(position: bytes, seq: int) -> Reply:
    """Return an entry as the server sends it."""
    return [position, [b"s", b"%d" % seq, b"k", b"delta", b"d", b"{}"]]


def event(seq: int) -> Event:
    """Return the event of such an entry."""
    return Event("r", seq, EventKind.DELTA, "{}")


def followed(*positions: bytes) -> tuple[Channel, list[Follower]]:
    """Return a channel and a follower standing at each position."""
    channel = Channel("r", "out:r", START)
    for position in positions:
        follower = Follower("r", "out:r")
        follower.taken = follower.at = position
        follower.joined = True
        channel.followers.append(follower)
    return channel, channel.followers.copy()


def test_positions_are_ordered_as_numbers() -> None:
    """R7: 9-0 comes before 10-0, and 10-9 before 10-10, which as text they do not."""
    positions = [b"10-10", b"9-0", b"10-9", b"0-0"]
    assert sorted(positions, key=order) == [b"0-0", b"9-0", b"10-9", b"10-10"]


def test_each_follower_gets_what_is_behind_its_own_position() -> None:
    """A lane that goes back for one follower repeats nothing for another."""
    channel, followers = followed(START, b"9-0", b"10-0")
    channel.deliver([entry(b"9-0", 0), entry(b"10-0", 1)])
    assert [follower.events for follower in followers] == [[event(0), event(1)], [event(1)], []]
    assert [follower.at for follower in followers] == [b"10-0"] * 3
    assert channel.at == b"10-0"


def test_a_follower_that_takes_nothing_leaves_the_lane() -> None:
    """C4: not more than `HELD` events wait for it; it goes on behind the last one that it has taken."""
    channel, (follower,) = followed(b"1-0")
    for number in range(HELD):
        channel.deliver([entry(b"2-%d" % number, number)])
    assert len(follower.events) == HELD
    channel.deliver([entry(b"3-0", HELD)])
    assert (follower.joined, follower.events, follower.at, channel.followers) == (False, [], b"1-0", [])
    assert asyncio.run(follower.take()) == []


def test_what_was_taken_is_where_a_follower_goes_on() -> None:
    """Taking moves the position that a dismissed follower would go back to."""
    channel, (follower,) = followed(START)
    channel.deliver([entry(b"5-0", 0)])
    assert asyncio.run(follower.take()) == [event(0)]
    channel.deliver([entry(b"6-0", 1)])
    channel.dismiss(follower)
    assert (follower.at, follower.taken) == (b"5-0", b"5-0")
