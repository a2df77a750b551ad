"""What a service says: our lines, dumps of its stack, and prints, told apart whatever a tree prints between them."""

import io
import os
import threading
from collections.abc import Sequence

import pytest

from selfcheck.processes.logbook import (
    LONGEST_LINE,
    MOST_FRAMES,
    MOST_KEPT,
    MOST_LINES,
    MOST_PRINTS,
    Line,
    Logbook,
    Stack,
)

TOKEN = "0f1e"


class Read:
    """A logbook that has read something to its end, and whom it called."""

    def __init__(self, *pieces: bytes) -> None:
        self.lines: list[Line] = []
        self.stacks: list[Stack] = []
        self.log = Logbook(TOKEN, self.lines.append, self.stacks.append)
        self.log.read(io.BytesIO(b"".join(pieces)))


def line(event: str, **fields: str | int) -> bytes:
    """Return a line as the service writes it."""
    rest = "".join(f',"{name}":"{value}"' for name, value in fields.items())
    return f'\n{TOKEN} {{"event":"{event}"{rest}}}\n'.encode()


def dump(*frames: str, outermost: str = "<string>") -> bytes:
    """Return a dump as `faulthandler` writes it: innermost frame first, of another thread and of the main one."""
    places = [*frames, outermost]
    texts = [f'  File "{place.partition(":")[0]}", line {place.partition(":")[2] or 1} in f\n' for place in places]
    return ("Timeout (0:00:00.800000)!\nThread 0x00007f (most recent call first):\n" + "".join(texts)).encode()


def test_our_lines_are_kept_in_order_and_each_is_told_at_once() -> None:
    """A line is an event and its fields."""
    read = Read(line("listening", port=1), line("ready"))
    assert read.lines == [{"event": "listening", "port": "1"}, {"event": "ready"}]
    assert read.log.all("ready", "listening") == read.lines
    assert [*read.log.prints] == []


@pytest.mark.parametrize(
    "raw",
    [
        b'{"event":"illegal_transition","run_id":"1"}\n',
        b'dead {"event":"illegal_transition"}\n',
        b'0f1e{"event":"illegal_transition"}\n',
        b' 0f1e {"event":"illegal_transition"}\n',
        b'print: 0f1e {"event":"illegal_transition"}\n',
        b'0f1e {"event":"illegal_transition"\n',
        b'0f1e {"event":1}\n',
        b'0f1e ["event"]\n',
        b"0f1e \xff\n",
        b"0f1e \n",
    ],
)
def test_what_looks_like_a_line_of_ours_is_a_print(raw: bytes) -> None:
    """Only the token at the beginning, and an event behind it, make one."""
    read = Read(raw)
    assert read.lines == []
    assert [*read.log.prints] == [raw.decode("utf-8", "replace").rstrip("\n")]


def test_half_a_line_that_a_tree_printed_hides_nothing() -> None:
    """Our lines and dumps begin wherever the tree left off."""
    read = Read(b"merge?", line("ready"), b"and ", dump("/t/delivery.py:3"), b"x\n")
    assert read.lines == [{"event": "ready"}]
    assert read.stacks == [Stack(["/t/delivery.py:3", "<string>:1"])]
    assert [*read.log.prints] == ["merge?", "x"]


def test_a_dump_ends_with_the_outermost_frame() -> None:
    """Lines of ours may come in the middle of it; what comes behind it is printed again."""
    first = dump("/t/lifecycle.py:9", "/s/x.py:2")
    read = Read(first[:60], line("loop_resumed"), first[60:], dump("/s/y.py:4"), b"text\n")
    assert read.stacks[-1] == Stack(["/s/y.py:4", "<string>:1"])
    assert read.lines == [{"event": "loop_resumed"}]
    assert [*read.log.prints] == ["text"]


def test_a_dump_without_an_end_is_given_up() -> None:
    """What pretends to be one does not swallow what is printed behind it for ever."""
    endless = dump(*["/t/x.py:1"] * (MOST_FRAMES + 5), outermost="/t/x.py:1")
    read = Read(endless, b"text\n")
    assert read.stacks == []
    assert read.log.prints[-1] == "text"


def test_prints_of_both_streams_are_kept_up_to_a_number() -> None:
    """The newest are; blank lines are not."""
    read = Read(*(b"%d\n\n" % number for number in range(MOST_PRINTS)))
    read.log.read_prints(io.BytesIO(b"\n\r\nlast\xff\r\n"))
    assert [*read.log.prints] == [*map(str, range(1, MOST_PRINTS)), "last\ufffd"]


def test_what_is_kept_is_bounded() -> None:
    """Whatever a tree prints: lines, long lines, one line that never ends."""
    read = Read(line("first"), line("x") * MOST_LINES, b"y" * (3 * LONGEST_LINE))
    assert read.log.all("first") == []
    assert len(read.log.all("x")) == MOST_LINES
    assert [len(text) for text in read.log.prints] == [LONGEST_LINE] * 3


def waiting(write: Sequence[bytes], event: str, **fields: str) -> Line | None:
    """Wait for a line while another thread reads what is written, and return what came of it."""
    receiving, sending = os.pipe()
    log = Logbook(TOKEN, lambda line: None, lambda stack: None)
    with os.fdopen(receiving, "rb") as stream:
        reader = threading.Thread(target=log.read, args=(stream,))
        reader.start()
        with os.fdopen(sending, "wb", buffering=0) as pipe:
            for raw in write:
                pipe.write(raw)
            if event == "never":
                pipe.close()
            found = log.wait(event, timeout_s=60, **fields)
        reader.join()
    return found


def test_a_line_is_waited_for_by_its_fields() -> None:
    """The newest that has them is given, also when it has come already."""
    lines = [line("moved", run="1", to="running"), line("moved", run="2", to="done"), line("moved", run="1", to="done")]
    assert waiting(lines, "moved", run="1") in (
        {"event": "moved", "run": "1", "to": "running"},
        {"event": "moved", "run": "1", "to": "done"},
    )
    assert waiting(lines, "moved", run="1", to="done") == {"event": "moved", "run": "1", "to": "done"}


def test_nobody_waits_for_a_service_that_has_said_its_last() -> None:
    """The end of its stream is the end of all waiting."""
    assert waiting([line("ready")], "never") is None


def test_who_watches_sees_the_lines_from_then_on() -> None:
    """Each once, beside the one that was told of it first."""
    read = Read(line("one"))
    seen: list[Line] = []
    read.log.watch(seen.append)
    read.log.read(io.BytesIO(line("two")))
    assert (seen, read.lines) == ([{"event": "two"}], [{"event": "one"}, {"event": "two"}])


def test_the_newest_lines_can_be_kept_as_they_were_said() -> None:
    """As JSON, one a line, without the token; of very many, as much as anybody would look at."""
    read = Read(line("one", run="1"), b"a print\n", line("two"))
    assert read.log.tail() == b'{"event":"one","run":"1"}\n{"event":"two"}\n'
    long = Read(*(line("moved", number=number, padding="x" * 1000) for number in range(1000)))
    kept = long.log.tail().splitlines()
    assert b'"number":"999"' in kept[-1]
    assert MOST_KEPT < sum(len(each) + 1 for each in kept) < MOST_KEPT + 2 * len(kept[-1])
