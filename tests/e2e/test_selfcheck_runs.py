"""What a run leaves behind, what it remembers, and what several repetitions of it say."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.judging import (
    SOLUTION,
    STARTER,
    STOPS_ITS_JUDGE_AT_5,
    Judged,
    TwoAtOnce,
    judge,
    rooms,
    solution_with,
    started,
    tree_with,
)
from tests.support.real import real_urls

TURNS = """
from pathlib import Path as _Path
_mark = _Path(__file__).with_name("turn")
_turn = not _mark.exists()
_mark.touch() if _turn else _mark.unlink()
_right = resume_from
def resume_from(last_event_id):
    return _right(last_event_id) if _turn else 0
"""
"""Right at every other time that it is loaded."""


def left_by(home: Path) -> dict[str, str]:
    """Return the files that the last run left, whichever tree it was of."""
    (last,) = home.glob("*/runs/last")
    return {file.name: file.read_text("utf-8") for file in last.iterdir()}


def run_with(home: Path, tree: Path, *options: str, **changes: str) -> Judged:
    """Judge a tree with a memory of its own."""
    return judge(tree, *options, results=home.with_suffix(".json"), changes={"SELFCHECK_HOME": str(home), **changes})


def test_a_run_leaves_its_results_what_does_not_pass_and_the_services_log(tmp_path: Path) -> None:
    """The file of a check has the whole timeline with one mark; the log is JSON, without the judge's token."""
    home = tmp_path / "home"
    judged = run_with(home, STARTER)
    files = left_by(home)
    assert sorted(files) == [*(f"check-{number}.txt" for number in (1, 2, 4, 5)), "results.json", "service.log"]
    assert files["results.json"] == home.with_suffix(".json").read_text("utf-8")
    assert [files[f"check-{number}.txt"].count("▶") for number in (1, 2, 4, 5)] == [1, 1, 1, 1]
    assert all(line.startswith('{"at":') for line in files["service.log"].splitlines())
    (folder,) = home.glob("*/runs/last")
    assert str(folder) in "".join(judged.out.split())


TIMELINES = [("memory", 7), ("memory again", 7), ("another seed", 11), ("real", 7)]


@pytest.fixture(scope="module")
def timelines(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[tuple[str, int], dict[str, str]]:
    """Return what runs of one tree say of their checks."""
    room = rooms(tmp_path_factory)

    def run(key: tuple[str, int]) -> dict[str, str]:
        name, seed = key
        changes = {}
        if name == "real":
            urls = real_urls()
            changes = {"MOCK": "", "REDIS_URL": urls.redis, "DATABASE_URL": urls.database}
        home = room() / "home"
        run_with(home, STARTER, "--seed", str(seed), **changes)
        found = {file: text for file, text in left_by(home).items() if file.startswith("check")}
        return {file: re.sub(r"--seed \d+", "", text) for file, text in found.items()}

    return TwoAtOnce(TIMELINES, run)


def test_one_seed_gives_one_timeline(timelines: TwoAtOnce[tuple[str, int], dict[str, str]]) -> None:
    """Line by line; another seed shuffles otherwise, and changes nothing but that."""
    memory, again, other = (timelines[key] for key in TIMELINES[:3])
    assert memory == again
    assert {file for file in memory if memory[file] != other[file]} == {"check-2.txt"}


def test_real_services_give_the_same_timeline(timelines: TwoAtOnce[tuple[str, int], dict[str, str]]) -> None:
    """Two processes and a bus between them, and the same order of causes."""
    assert timelines["real", 7] == timelines["memory", 7]


def test_what_passed_and_does_not_any_more_is_called_a_regression(tmp_path: Path) -> None:
    """Once; what did not pass before is none."""
    home, tree = tmp_path / "home", tree_with(tmp_path / "tree", (1, 2, 3))
    first = run_with(home, tree)
    tree_with(tree, (1, 3))
    second, third = (run_with(home, tree, "--only", number) for number in ("2", "2"))
    assert "last time" not in first.out
    assert "  ○ 2 ordered delivery        to do, passed the last time\n" in second.out
    assert "○ 2 ordered delivery  to do  regression: it passed the last time\n" in second.out
    assert "last time" not in third.out


def test_where_nothing_can_be_remembered_the_run_is_the_same(tmp_path: Path) -> None:
    """No word on stderr, the same exit code; only the line that names the folder is missing."""
    (tmp_path / "file").touch()
    judged = run_with(tmp_path / "file", STARTER, "--only", "2")
    assert (judged.code, judged.err, judged.states) == (1, "", {2: "todo"})
    assert "timelines:" not in judged.out


def test_what_comes_out_differently_is_flaky(tmp_path: Path) -> None:
    """The worst of it is told and decides the exit code; the results have all states."""
    tree = solution_with(tmp_path / "tree", delivery=TURNS)
    judged = run_with(tmp_path / "home", tree, "--only", "4", "--repeat", "2")
    assert judged.code == 1
    assert (judged.results["repeat"], judged.results["total"], judged.results["passed"]) == (2, 1, 0)
    flaky = judged.results["flaky"]
    assert isinstance(flaky, dict)
    assert [*flaky] == ["4"]
    assert "  repetition 1 of 2\n" in judged.out
    assert "\n  flaky: reconnect came out as passed ×1, " in judged.out
    assert judged.out.count("4 reconnect") == 3


def test_repetitions_that_are_all_alike_say_so(tmp_path: Path) -> None:
    """In the same results as of one, with a count."""
    judged = run_with(tmp_path / "home", SOLUTION, "--only", "3", "--repeat", "3")
    assert (judged.code, judged.results["repeat"], judged.results["flaky"]) == (0, 3, {})
    assert judged.out.endswith("\n\n  1 of 1 pass\n  all 3 repetitions came out alike\n")


def cases(file: Path) -> dict[str, list[str]]:
    """Return what JUnit XML says of each check."""
    root = ElementTree.fromstring(file.read_bytes())
    return {str(case.get("name")): [each.tag for each in case] for case in root.iter("testcase")}


def test_junit_is_written_after_every_check(tmp_path: Path) -> None:
    """A kill loses nothing, and what was not played is skipped."""
    file, tree = tmp_path / "out.xml", solution_with(tmp_path / "tree", delivery=STOPS_ITS_JUDGE_AT_5)
    with started("run", "--tree", str(tree), "--junit", str(file)) as running:
        running.until_it_says("3 two waiters")
        running.process.kill()
        running.ended()
    assert [*cases(file).values()] == [[], [], [], ["skipped"], ["skipped"], ["skipped"]]


def test_junit_says_what_the_exit_code_says(tmp_path: Path) -> None:
    """Of a tree that raises what no XML can hold, too."""
    file = tmp_path / "out.xml"
    deed = "    if previous is not None:\n        raise KeyError('\\x00\\x1b\\ud800')\n    return False\n"
    raising = f"def should_merge(previous, now):\n{deed}"
    tree = solution_with(tmp_path / "tree", lifecycle=raising)
    assert run_with(tmp_path / "home", tree, "--junit", str(file)).code == 1
    assert {name: tags for name, tags in cases(file).items() if tags} == {
        "5 merge inside the window": ["error"],
        "6 outside the window": ["error"],
    }


def test_a_file_that_cannot_be_written_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    """One line, with the option's name."""
    with started("run", "--junit", str(tmp_path / "no" / "such")) as running:
        code, out, err = running.ended()
    assert (code, out) == (3, "")
    assert err.startswith("selfcheck: --junit: cannot write ")
