"""The interview: complete in both languages, pointing at what exists, and kind to whoever is asked."""

import ast
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from selfcheck import texts
from selfcheck.checks import CHECKS
from selfcheck.interview import interviewer
from selfcheck.interview.questions import QUESTIONS, Question
from selfcheck.interview.score import FILE, read_best, write_best
from selfcheck.texts import LANGUAGES, Lang, text

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[io.StringIO]:
    """Return what is printed, in 80 columns and English; scores go to a folder of the test's."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path))
    written = io.StringIO()
    monkeypatch.setattr(interviewer, "out", Console(file=written, width=80, highlight=False))
    yield written
    texts.use("en")


def test_the_questions_are_those_of_the_lesson() -> None:
    """Four that the exercises prepare for, four around them, each with points and something to be asked next."""
    assert [question.name for question in QUESTIONS] == [
        "state-machine", "waiters", "merging", "exactly-once",
        "sse-or-websocket", "disconnects", "cut-off", "without-eventsource",
    ]  # fmt: skip
    assert {(question.points > 4, question.follow_ups > 1) for question in QUESTIONS} == {(True, True)}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_part_is_there_and_no_part_is_left_over(question: Question, lang: Lang) -> None:
    """As many points and further questions as are announced, in both languages."""
    parts = [question.asked, question.approach, *question.key_points, *question.further]
    written = texts.area_texts(lang, question.area)
    assert {part.key.partition(".")[2] for part in parts} == {
        name for name in written if name.startswith(f"{question.name}.")
    }
    assert len({text(part, lang) for part in parts}) == len(parts)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_what_it_points_to_is_there(question: Question) -> None:
    """The file defines what is named, and checks and experiments go by these numbers and names."""
    from selfcheck.experiments import NAMES

    for code in question.code:
        defined = {
            node.name
            for node in ast.walk(ast.parse((ROOT / code.file).read_text("utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        assert code.name in defined, code
    assert set(question.checks) <= {check.id for check in CHECKS}
    assert set(question.experiments) <= set(NAMES)
    assert question.checks or question.experiments


def asked(questions: Sequence[Question], *lines: str) -> None:
    """Hold the interview with somebody who types these lines and then is gone."""
    left = iter(lines)
    interviewer.interview(questions, lambda: next(left, None))


def test_points_are_revealed_one_by_one_and_counted(shown: io.StringIO, tmp_path: Path) -> None:
    """A yes counts, everything else does not; the score is shown and remembered."""
    (question,) = interviewer.chosen(["waiters"])
    asked([question], "", "", "y", "", "Yes", "no", "是", "")
    printed = shown.getvalue()
    assert "You had 3 of 6." in printed
    assert "3/6" in printed.splitlines()[-1]
    assert read_best(tmp_path) == {"waiters": 3}


def test_nothing_is_revealed_before_it_is_answered(shown: io.StringIO) -> None:
    """Whoever has not pressed Enter sees the question alone; who has, how to think about it, and no point yet."""
    (question,) = interviewer.chosen(["merging"])
    asked([question])
    assert str(say_start(question.asked)) in shown.getvalue()
    assert str(say_start(question.approach)) not in shown.getvalue()
    asked([question], "")
    assert str(say_start(question.approach)) in shown.getvalue()
    assert str(say_start(question.key_points[0])) not in shown.getvalue()


def say_start(words: texts.Words) -> str:
    """Return the first words of a text, which no line break divides."""
    return str(words)[:30]


def test_who_stops_keeps_what_was_finished(shown: io.StringIO, tmp_path: Path) -> None:
    """A question that was broken off does not count; the ones before it do."""
    first, second = interviewer.chosen(["cut-off", "waiters"])
    asked([first, second], "", "", *"yyyyyy", "", "q")
    assert read_best(tmp_path) == {"cut-off": 6}
    assert "waiters" not in shown.getvalue().splitlines()[-1]


def test_the_best_score_stays(tmp_path: Path) -> None:
    """A worse one does not replace it; a broken memory, and what it cannot be, are forgotten."""
    write_best(tmp_path, {"waiters": 4})
    write_best(tmp_path, {"waiters": 2, "merging": 1})
    assert read_best(tmp_path) == {"waiters": 4, "merging": 1}
    (tmp_path / FILE).write_text('{"waiters": 99, "gone": 1}')
    assert read_best(tmp_path) == {"waiters": 6}
    (tmp_path / FILE).write_text("{")
    assert read_best(tmp_path) == {}


def test_a_place_that_cannot_be_written_costs_no_interview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score is shown all the same."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "file"))
    asked(interviewer.chosen(["waiters"]), "", "", *"yyyyyy")
    assert read_best(tmp_path / "file") == {}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_sheet_fits_into_a_terminal(lang: Lang, shown: io.StringIO) -> None:
    """No line is wider than 80 cells, in either language, and every question stands there."""
    texts.use(lang)
    interviewer.show_all(QUESTIONS)
    lines = shown.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert sum(any(f"{name}" in line for line in lines) for name in (each.name for each in QUESTIONS)) == len(QUESTIONS)


def test_commands_stay_whole(shown: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow terminal, too: they are there to be copied."""
    monkeypatch.setattr(interviewer, "out", Console(file=shown, width=30, highlight=False))
    interviewer.show_all(interviewer.chosen(["merging"]))
    assert shown.getvalue().endswith(
        "See it\n  • selfcheck run --tree solution --only 5\n  • selfcheck run --tree solution --only 6\n"
        "  • selfcheck experiment seq-reset\n"
    )


def test_a_name_that_is_none_is_told() -> None:
    """With all names that there are."""
    with pytest.raises(LookupError, match="nothing"):
        interviewer.chosen(["nothing"])
