"""Terminals of every kind: without colours, without Unicode, narrow, wide, closed, full, or left by their reader."""

import os
import pty
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.judging import PROGRAM, ROOT, environment, solution_with, started

COLOUR = re.compile(r"\x1b\[(?:\d+;)*3[0-7](?:;\d+)*m")
ESCAPE = re.compile(r"\x1b")


def printed(tree: str, *options: str, **changes: str) -> tuple[int, str, str]:
    """Return exit code and outputs of a run on no terminal."""
    with started("run", "--tree", tree, *options, changes=changes) as running:
        return running.ended()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    """Lines are cut or folded, and the score stays. A command is left whole: a terminal goes on in its next line."""
    code, out, err = printed("starter", COLUMNS=str(width))
    assert (code, err) == (1, "")
    lines = out.splitlines()
    command = next(line for line in lines if line.startswith("  again "))
    assert command.endswith("  selfcheck run --tree starter --only 1 --seed 7")
    assert max(len(line) for line in lines if line != command) <= width
    assert "\n  2 of 6 pass\n" in out
    assert ESCAPE.search(out) is None


@pytest.mark.parametrize(
    "changes",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "LANG": "", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
    ids=["PYTHONIOENCODING", "LC_ALL"],
)
def test_a_terminal_without_unicode_loses_nothing(changes: Mapping[str, str]) -> None:
    """Symbols have plain ones in their place, and no character that matters is a question mark."""
    code, out, err = printed("starter", **changes)
    assert (code, err) == (1, "")
    assert out.isascii()
    assert [line[:5] for line in out.splitlines()[2:8]] == ["  o 1", "  o 2", "  + 3", "  o 4", "  o 5", "  + 6"]
    assert "A run moves pending -> running -> streaming -> done" in out
    assert "may a run move" in out
    assert [line for line in out.splitlines() if "?" in line and "may a run move" not in line] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "command", ["doctor", "interview --read", "interview --list", "hint 2 --level 3", "experiment"]
)
def test_no_line_ends_with_spaces(command: str, lang: str, tmp_path: Path) -> None:
    """Tables and lists are not filled up to an edge that a file does not have."""
    with started(*command.split(), "--lang", lang, changes={"SELFCHECK_HOME": str(tmp_path)}) as running:
        _, out, _ = running.ended()
    assert out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def on_a_terminal(**changes: str) -> tuple[int, str]:
    """Return exit code and output of a run on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    changes = {"COLUMNS": "80", "TERM": "xterm-256color", **changes}
    process = subprocess.Popen(
        [*PROGRAM, "run", "--only", "2"], cwd=ROOT, env=environment("terminal", changes), stdin=theirs, stdout=theirs,
        stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                piece = terminal.read(4096)
            except OSError:  # Linux says it like this when the last one on the other side has left
                break
            if not piece:
                break
            said += piece
    return process.wait(timeout=60), said.decode()


def test_a_terminal_has_colours() -> None:
    """As long as nobody minds."""
    code, said = on_a_terminal()
    assert code == 1
    assert COLOUR.search(said)


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "TERM"])
def test_a_terminal_without_colours_gets_none(changes: Mapping[str, str]) -> None:
    """Whether it has none or nobody wants them; the symbols say the same."""
    code, said = on_a_terminal(**changes)
    assert code == 1
    assert COLOUR.search(said) is None
    assert "○ 2 ordered delivery" in said


def test_a_reader_who_leaves_misses_only_the_rest(tmp_path: Path) -> None:
    """`selfcheck | head -1`: the run goes on, its results are whole, and nobody is told of a broken pipe."""
    file = tmp_path / "results.json"
    with started("run", "--json", str(file)) as running:
        running.until_it_says("Koda lab")
        assert running.process.stdout is not None
        running.process.stdout.close()
        assert running.process.stderr is not None
        err = running.process.stderr.read()
        assert (running.process.wait(timeout=60), err) == (1, b"")
    assert file.read_text("utf-8").count('"blocked_by":') == 6


@pytest.mark.parametrize("closing", [">&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_done_without(closing: str, tmp_path: Path) -> None:
    """The results and the exit code are the same."""
    file = tmp_path / "results.json"
    shell = ["sh", "-c", f'exec "$@" {closing}', "sh", *PROGRAM]
    with started("run", "--json", str(file), program=shell) as running:
        code, _, err = running.ended()
        assert (code, err, running.left_behind()) == (1, "", [])
    assert file.read_text("utf-8").count('"blocked_by":') == 6


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
def test_a_full_disk_is_one_line() -> None:
    """What cannot be printed is told on the other stream, with the code of the surroundings."""
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with started("run", stdout=full) as running:
            code, _, err = running.ended()
            left = running.left_behind()
    finally:
        os.close(full)
    assert (code, err, left) == (3, "selfcheck: the system refuses something: [Errno 28] No space left on device\n", [])


def test_what_a_tree_prints_is_shown_at_the_end(tmp_path: Path) -> None:
    """The last lines, harmless whatever is in them, also of an exercise whose service had to be ended."""
    printing = "import sys\ndef should_merge(previous, now):\n    print('merge?\\x1b[2J')\n    raise KeyError('no')\n"
    tree = solution_with(tmp_path / "tree", lifecycle=printing)
    code, out, err = printed(str(tree), "--only", "5")
    assert (code, err) == (1, "")
    assert "Printed by the tree" in out
    assert "\n  merge?\ufffd[2J\n" in out
