"""The readers of `bench/delivery.py`: what they count and read is what was on the wire, wherever it was split."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.delivering.cuts import Body, CutReader, Tally
from bench.delivering.readers import Reader
from client.sse import ServerEvent
from gateway.frames import frame
from gateway.sse import PING, event, retry
from tests.support.calm import calm
from tests.support.houses import SETTINGS, as_sent, log
from tests.support.moved_loop import run

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LOG = log(12)


def chunked(*chunks: bytes) -> bytes:
    """Return an answer in HTTP's chunks, the empty one at the end included."""
    return HEAD + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


FRAMES = [event(frame(each)) for each in LOG]
ANSWER = chunked(retry(SETTINGS.retry), b"".join(FRAMES[:5]), PING, *FRAMES[5:])

splits = st.lists(st.integers(0, len(ANSWER)), max_size=8).map(lambda cuts: sorted({0, *cuts, len(ANSWER)}))


def pieces(bounds: Sequence[int]) -> list[bytes]:
    """Return the answer in pieces."""
    return [ANSWER[start:end] for start, end in pairwise(bounds)]


@calm
@given(splits)
def test_a_body_is_the_same_however_it_comes(bounds: Sequence[int]) -> None:
    """Split anywhere, in the head, in the size of a chunk, in a frame: the events are those of the run."""
    body, events = Body(), list[ServerEvent]()
    for piece in pieces(bounds):
        events += body.feed(piece)
    assert (body.status, events) == (200, as_sent(LOG))


def test_a_body_gives_what_is_complete() -> None:
    """A frame is given with its last byte, and does not wait for the end of its chunk."""
    body, end = Body(), ANSWER.index(FRAMES[1])
    assert body.feed(ANSWER[: end - 1]) == []
    assert body.feed(ANSWER[end - 1 : end]) == as_sent(LOG[:1])


@calm
@given(splits)
def test_frames_are_counted_once_however_they_come(bounds: Sequence[int]) -> None:
    """Split anywhere, a reader has seen the head and counts as many frames as there are."""

    async def main() -> None:
        reader = Reader("r", len(LOG))
        for piece in pieces(bounds):
            reader.data_received(piece)
        assert (reader.attached.done(), reader.frames, reader.over.done()) == (True, len(LOG), True)

    run(main())


@pytest.mark.parametrize(
    ("seqs", "lost", "twice"),
    [([0, 1, 2, 3], 0, 0), ([0, 1, 3], 1, 0), ([0, 1, 1, 2, 1, 3], 0, 2), ([3], 3, 0), ([0, 2, 1, 3], 0, 1)],
)
def test_a_tally_sees_what_is_lost_and_what_comes_twice(seqs: list[int], lost: int, twice: int) -> None:
    """What never came is lost, what comes again, or behind a later one, is too much; who comes back resumes."""
    reader = CutReader(1, "r", 4, random.Random(0))
    reader.seqs, reader.connections = seqs, 3
    assert reader.tally() == Tally(2, lost, twice)
