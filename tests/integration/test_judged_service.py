"""The service that is judged, without a judge: what it says by itself, and what passes for a print of the tree."""

import threading
from pathlib import Path

import httpx

from selfcheck.early import LAB_SETTINGS, launch
from selfcheck.processes.held import encode
from selfcheck.processes.logbook import Logbook
from selfcheck.spec import BOTH, ServiceSpec, new_token
from tests.support.judging import SOLUTION, solution_with

WAIT_S = 60.0
RAISES = "def should_merge(previous, now):\n    print('asked')\n    raise KeyError('no')\n"


def test_a_request_that_crashes_is_a_line_and_no_print(tmp_path: Path) -> None:
    """What the server would say of it, behind the answer, is as long as what a report shows of a tree's prints."""
    spec = ServiceSpec(
        str(solution_with(tmp_path / "tree", lifecycle=RAISES)), str(SOLUTION), (), new_token(), BOTH, LAB_SETTINGS
    )
    log = Logbook(spec.token, lambda line: None, lambda stack: None)
    with launch(encode(spec), judged=True) as process:
        assert process.stdin and process.stdout and process.stderr, "all three were asked for"
        readers = [
            threading.Thread(target=log.read, args=(process.stderr,)),
            threading.Thread(target=log.read_prints, args=(process.stdout,)),
        ]
        for reader in readers:
            reader.start()
        try:
            line = log.wait("listening", WAIT_S)
            assert line is not None
            url, message = f"http://127.0.0.1:{line['port']}", {"session_id": "s", "text": "hello"}
            crashed = httpx.post(f"{url}/chat", json=message, timeout=WAIT_S, trust_env=False)
            # Answered when all is done that the first one leads to; on another connection, for that one is closed.
            after = httpx.get(f"{url}/healthz", timeout=WAIT_S, trust_env=False)
        finally:
            process.kill()
            for reader in readers:
                reader.join(WAIT_S)
    assert (crashed.status_code, after.status_code, len(log.all("request_crashed"))) == (500, 200, 1)
    assert [*log.prints] == ["asked"]
