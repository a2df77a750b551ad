"""Both languages of the self-check: programs read the same whoever watches, and whoever reads Chinese reads Chinese."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from selfcheck.wrapping import has_chinese
from tests.mutants.submission import function
from tests.support.judging import SOLUTION, STARTER, Judged, TwoAtOnce, judge, rooms, solution_with, tree_with

TREES: dict[str, Callable[[Path], Path]] = {
    "starter": lambda room: STARTER,
    "solution": lambda room: SOLUTION,
    "half done": lambda room: tree_with(room / "half", (1, 2)),
    "does not load": lambda room: solution_with(
        room / "tree", lifecycle="\ndef broken(:\n", delivery="\ndel SeqOrderer\n\n\nasync def resume_from(a): ...\n"
    ),
    "strays": lambda room: solution_with(
        room / "tree", delivery=f"\n{function('resume_from(a)', 'return float(a or 0)')}"
    ),
}
ONE = {"strays": ("--only", "4")}  # where the others would show nothing else
LANGUAGES = ("en", "zh")
NAMES = [(name, lang) for name in TREES for lang in LANGUAGES]

VALUES = re.compile(r"“[^”]*”|selfcheck [\w ./-]+|[A-Z]\w+(Error|Exception): .*|回复 .*|^  [a-z]+(  +(.+))+$")
SENTENCE = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[tuple[str, str], Judged]:
    """Return every tree, judged in each language, on a terminal so wide that no line is broken."""
    room = rooms(tmp_path_factory)
    trees = {name: tree(room()) for name, tree in TREES.items()}

    def run(name: tuple[str, str]) -> Judged:
        tree, lang = name
        options, folder = ("--lang", lang, *ONE.get(tree, ())), room()
        return judge(trees[tree], *options, changes={"COLUMNS": "2000"}, cwd=folder, results=folder / "results.json")

    return TwoAtOnce(NAMES, run)


@pytest.mark.parametrize("tree", TREES)
def test_programs_read_the_same(tree: str, judged: TwoAtOnce[tuple[str, str], Judged]) -> None:
    """The JSON is in English, byte for byte, whatever the language."""
    english, chinese = (judged[tree, lang] for lang in LANGUAGES)
    assert (english.results, english.code) == (chinese.results, chinese.code)
    assert not has_chinese(str(chinese.results))
    assert not has_chinese(english.out + english.err)


@pytest.mark.parametrize("tree", TREES)
def test_whoever_reads_chinese_reads_chinese(tree: str, judged: TwoAtOnce[tuple[str, str], Judged]) -> None:
    """Whatever is no value, no command and no quotation: no sentence of English reaches the terminal."""
    run = judged[tree, "zh"]
    lines = [VALUES.sub("", line) for line in (run.out + run.err).splitlines()]
    assert [line for line in lines if SENTENCE.search(line)] == []
    assert sum(has_chinese(line) for line in lines) > 3


def test_what_is_no_chinese_is_a_value(judged: TwoAtOnce[tuple[str, str], Judged]) -> None:
    """Line by line, of everything that the starter gives to read."""
    lines = judged["starter", "zh"].out.splitlines()
    plain = [line.strip() for line in lines if line.strip() and not has_chinese(line)]
    statuses = "pending|running|streaming|done|failed|cancelled"
    assert [line for line in plain if not re.fullmatch(rf"({statuses}| )+|[a-z]+: \S+(, [a-z_]+: \S+)*", line)] == []
