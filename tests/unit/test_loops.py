"""Where a tree's code goes round, told by lines that were looked at."""

from pathlib import Path

import pytest

from selfcheck.processes.loops import loop_at

SOURCE = """\
def helper(items):
    for item in items:
        while True:
            item += 1
            item -= 1

def offer(seq):
    helper([seq])
    time.sleep(1)

def ask(seq):
    while seq:
        helper([seq])
        def inner():
            return seq
        inner()

for each in ask(1):
    pass
"""


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ((3, 8), 2),  # whichever line of the two loops was running
        ((4, 8), 2),
        ((5, 8), 2),
        ((9,), 9),  # no loop at all
        ((4, 13), 12),  # a loop that calls what loops
        ((15, 16), 12),  # what is called in it has none
        ((15,), 15),  # a loop around a definition is not around what it runs
        ((12, 18), 18),  # when the file is loaded
    ],
)
def test_a_loop_is_named_by_its_first_line(lines: tuple[int, ...], line: int, tmp_path: Path) -> None:
    """It is the outermost one that the calls lead through; without any, where the tree was entered."""
    file = tmp_path / "delivery.py"
    file.write_text(SOURCE, encoding="utf-8")
    assert loop_at(tmp_path, [f"{file}:{each}" for each in lines]) == f"{file}:{line}"


def test_what_cannot_be_read_keeps_its_line(tmp_path: Path) -> None:
    """A file that has gone, or is another one: the outermost place of the tree, else the outermost of all."""
    places = ["/elsewhere/delivery.py:2", f"{tmp_path}/delivery.py:3", f"{tmp_path}/delivery.py:4"]
    assert loop_at(tmp_path, places) == f"{tmp_path}/delivery.py:4"
    assert loop_at(tmp_path, places[:1]) == "/elsewhere/delivery.py:2"
