"""The readers of `bench/socket.py`: what they count and keep is what was on the wire, wherever it was split."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from bench.delivering.writing import events
from bench.socketing.fronts import KINDS, SOCKET, STREAM, Front, Had, SocketTalk, expected
from bench.socketing.readers import PONG, STARTED, Frames, Reader
from gateway import envelopes, sse
from gateway.envelopes import LineForm
from gateway.frames import frame
from gateway.framing import completed, text_of
from shared.ports import StoredRun
from tests.support.calm import calm
from tests.support.moved_loop import run
from tests.support.runs import a_run

BENCH = Path(__file__).parents[2] / "bench"
HEAD = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n"
COUNT = 6
RUN = a_run("r")
FORM = LineForm("r", 0)
END = envelopes.stamp(datetime(2026, 1, 1, tzinfo=UTC))
BEGUN = [
    envelopes.ready("", {}),
    FORM.started(StoredRun(RUN, 0, 1, None, False, None)),
    *(FORM.event(frame(each)) for each in events("r", COUNT)[:-1]),
    envelopes.ping(),
    FORM.event(frame(events("r", COUNT)[-1])),
]
TEXTS = [text_of(each) + END for each in BEGUN]
WIRE = completed(BEGUN, END)
ANSWER = HEAD + WIRE


def split(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Cut bytes into pieces anywhere."""
    cuts = st.lists(st.integers(0, len(data)), max_size=8)
    return cuts.map(lambda at: [data[start:end] for start, end in pairwise(sorted({0, *at, len(data)}))])


@calm
@given(split(WIRE))
def test_texts_are_the_same_however_they_come(pieces: Sequence[bytes]) -> None:
    """Split anywhere, in a head or in a text: the texts are those that the gateway wrote."""
    texts = Frames()
    assert [text for piece in pieces for text in texts.feed(piece)] == TEXTS


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_a_text_of_every_size_is_read(size: int) -> None:
    """Each of the three forms of a frame's head is understood."""
    assert Frames().feed(Frame(Opcode.TEXT, b"x" * size).serialize(mask=False)) == [b"x" * size]


def test_a_close_ends_the_reading() -> None:
    """Nothing is counted behind it, and it says why."""
    close = Frame(Opcode.CLOSE, (4408).to_bytes(2) + b"too slow").serialize(mask=False)
    with pytest.raises(ConnectionError, match="closed with 4408 too slow"):
        Frames().feed(close)


class Written(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.data = b""

    def write(self, data: "bytes | bytearray | memoryview[int]") -> None:
        """Keep it."""
        self.data += bytes(data)


@calm
@given(split(ANSWER))
def test_frames_are_counted_once_however_they_come(pieces: Sequence[bytes]) -> None:
    """Split anywhere, a reader counts the events of the log, and answers a ping, which is none."""

    async def main() -> None:
        reader, transport = Reader("s", STARTED, COUNT), Written()
        reader.connection_made(transport)
        asked = len(transport.data)
        for piece in pieces:
            reader.data_received(piece)
        assert (reader.attached.done(), reader.frames, reader.over.done()) == (True, COUNT, True)
        assert transport.data[asked:] == PONG

    run(main())


@calm
@given(split(ANSWER))
def test_a_front_end_keeps_what_it_is_sent(pieces: Sequence[bytes]) -> None:
    """By socket, split anywhere: all that the session is to have, and a reply for the ping."""
    talk, had, back = SocketTalk(), list[Had](), b""
    for piece in pieces:
        more, reply = talk.feed(piece)
        had, back = [*had, *more], back + reply
    assert talk.let_in and not talk.away and back == PONG
    assert (had[0].seq, had[0].kind) == (-1, "run_started")
    assert had[1:] == expected(STREAM, "r", COUNT)


def test_both_ways_have_the_same_log() -> None:
    """What is expected of a stream is expected of a socket, behind the word that the run is next."""
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    written = b"".join(sse.event(frame(each)) for each in events("r", COUNT))
    had, back = STREAM.talk().feed(head + b"%x\r\n%b\r\n" % (len(written), written))
    assert ([*had], back) == (expected(STREAM, "r", COUNT), b"")
    assert expected(SOCKET, "r", COUNT) == [Had(-1, "run_started", b""), *had]


LOG = expected(STREAM, "r", 4)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize(
    ("had", "faults"),
    [
        (LOG, (0, 0)),
        ([*LOG[:1], *LOG[2:]], (1, 1)),
        ([*LOG[:2], LOG[1], *LOG[2:]], (0, 1)),
        ([LOG[1], LOG[0], *LOG[2:]], (0, 1)),
        ([*LOG[:3], Had(3, "done", b"{}")], (1, 1)),
    ],
)
def test_a_front_end_is_held_against_the_log(kind: str, had: Sequence[Had], faults: tuple[int, int]) -> None:
    """What never came is lost; what comes again, out of order or with another content is not the log."""
    front = Front(1, KINDS[kind], "r", 4)
    front.had = [*KINDS[kind].before, *had]
    assert front.faults() == faults


def test_a_script_beside_the_bench_has_the_library_s_socket() -> None:
    """Python finds `bench/socket.py` first when a script of that folder imports `socket`; it gives way."""
    asking = f"import sys; sys.path.insert(0, {str(BENCH)!r}); import socket; print(socket.__file__, socket.AF_INET)"
    found = subprocess.run([sys.executable, "-I", "-c", asking], capture_output=True, text=True, check=True)
    assert str(BENCH) not in found.stdout
    assert "socket.py" in found.stdout
