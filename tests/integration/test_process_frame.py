"""The frame of a process, around work of a test's own: signals, exit codes, and whose lines come out how."""

import signal

import pytest

from shared.adapters.process import listen
from shared.errors import Misconfigured
from tests.support.processes import running

# Each program is the body of the work of one process; it has `environment`, `stop`, and `log` to say where it is.
PROGRAM = """
import asyncio, logging, sys, warnings
from shared.adapters.process import run
from shared.errors import InvalidField, Unavailable
from shared.logs import logger, note
log = logger("test")
async def work(environment, stop):
    {}
sys.exit(run("test", work))
"""

WAIT = "note(log, 'waiting'); await asyncio.Event().wait()"


@pytest.mark.parametrize(
    ("body", "code", "event"),
    [
        ("raise InvalidField('FIELD', 'is missing')", 2, "not_started"),
        ("raise Unavailable('bus', 'gone')", 3, "not_started"),
        ("raise ZeroDivisionError('ours')", 1, "crashed"),
    ],
)
def test_the_exit_code_says_whose_turn_it_is(body: str, code: int, event: str) -> None:
    """Two: the caller's. Three: the services'. One: ours, and then the line has the traceback."""
    with running("-c", PROGRAM.format(body)) as child:
        assert child.ended() == code
    (line,) = child.lines
    assert line["event"] == event
    assert ("traceback" in line) == (code == 1)


def test_work_that_returns_ends_its_process_well() -> None:
    """Nothing is said about it."""
    with running("-c", PROGRAM.format("return")) as child:
        assert child.ended() == 0
    assert child.lines == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_the_start_gives_it_up(number: signal.Signals) -> None:
    """Where nothing can be drained yet, the start is cancelled, with all that it had opened closed."""
    body = f"""
    try:
        {WAIT}
    finally:
        note(log, 'closed')"""
    with running("-c", PROGRAM.format(body.strip())) as child:
        child.until("waiting")
        child.signal(number)
        assert child.ended() == 0
    assert [line["event"] for line in child.lines] == ["waiting", "stopping", "closed"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_ends_the_process_on_the_spot(number: signal.Signals, code: int) -> None:
    """Work that takes its time, or does not end at all, is not waited for."""
    with running("-c", PROGRAM.format(f"stop.by(lambda: None); {WAIT}")) as child:
        child.until("waiting")
        child.signal(signal.SIGTERM)
        child.until("stopping")
        child.signal(number)
        assert child.ended() == code
    assert [line["event"] for line in child.lines] == ["waiting", "stopping"]


def test_a_second_signal_reaches_a_loop_that_stands_still() -> None:
    """Code that never gives the loop back cannot keep the process."""
    body = "stop.by(lambda: loop.call_soon(stand)); loop = asyncio.get_running_loop(); " + WAIT
    program = PROGRAM.replace("async def", "def stand():\n    note(log, 'standing')\n    while True: pass\nasync def")
    with running("-c", program.format(body)) as child:
        child.until("waiting")
        child.signal(signal.SIGTERM)
        child.until("standing")
        child.signal(signal.SIGTERM)
        assert child.ended() == 143


def test_what_libraries_say_comes_out_the_same_way() -> None:
    """A warning of the server's, of the loop's, of Python's: all of them are lines of JSON, each once."""
    said = ("logging.getLogger('uvicorn.error').error('a')", "logging.getLogger('asyncio').warning('b')")
    with running("-c", PROGRAM.format("; ".join([*said, "warnings.warn('c')"]))) as child:
        assert child.ended() == 0
    rooms = [line["room"] for line in child.lines]
    first, second, third = [str(line["event"]) for line in child.lines]
    assert (rooms, first, second) == (["uvicorn.error", "asyncio", "py.warnings"], "a", "b")
    assert "UserWarning: c" in third


def test_what_libraries_say_is_not_counted() -> None:
    """Their texts are anything, quotes and line ends included: as labels they would spoil the page for good."""
    body = """
    from shared.metrics import Metrics
    from worker.health import CountingHandler
    metrics = Metrics()
    logging.getLogger('koda').addHandler(CountingHandler(metrics))
    logging.getLogger('asyncio').error('a "b"\\nc')
    note(log, 'said')
    note(log, 'shown', page=metrics.text())"""
    with running("-c", PROGRAM.format(body.strip())) as child:
        assert child.ended() == 0
    assert [line["event"] for line in child.lines] == ['a "b"\nc', "said", "shown"]
    assert str(child.lines[-1]["page"]).splitlines()[2:] == ['koda_log_lines_total{event="said",room="test"} 1']


@pytest.mark.parametrize("port", ["-1", "65536", "http", "²", "8000 ", "0x50"])
def test_what_is_no_port_is_refused(port: str) -> None:
    """The message names the variable and its value."""
    with pytest.raises(Misconfigured) as refusal:
        listen({"PORT": port}, 8000)
    assert str(refusal.value) == (f"settings: PORT={port!r} is not a number from 0 to 65535; change PORT or unset it")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", ""])
def test_the_address_can_be_of_either_kind(host: str) -> None:
    """An address with colons is IPv6; an empty one is as good as none."""
    with listen({"HOST": host, "PORT": "0"}, 8000) as listener:
        address = listener.getsockname()
    assert address[0] == (host or "127.0.0.1")
    assert address[1] > 0
