"""The interviewer: asks, waits, reveals point by point, lets one tick what one had, and keeps score."""

from collections.abc import Callable, Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfcheck.console import out, plain
from selfcheck.home import home
from selfcheck.interview.questions import QUESTIONS, Question
from selfcheck.interview.score import read_best, write_best
from selfcheck.keyboard import YES
from selfcheck.texts import Words, say
from selfcheck.wrapping import prose

ENOUGH = frozenset({"q", "quit", "退出"})


class Enough(Exception):
    """Whoever is asked wants to stop, or there is nobody to answer any more."""


def chosen(names: Sequence[str]) -> Sequence[Question]:
    """Return the questions of these names in the order asked for; all of them for none.

    Raises:
        LookupError: there is none of this name.
    """
    by_name = {question.name: question for question in QUESTIONS}
    return [by_name[name] for name in dict.fromkeys(names)] if names else QUESTIONS


def show_all(questions: Sequence[Question]) -> None:
    """Print questions with everything that belongs to them: a sheet to read."""
    for number, question in enumerate(questions, 1):
        _show_question(question, number, len(questions))
        _show(say("interview.think"), [question.approach])
        _show(say("interview.points"), question.key_points, numbered=True)
        _show_rest(question)


def list_all() -> None:
    """Print the names, and what one had of each at best."""
    best = read_best(home())
    _show_score({question.name: best[question.name] for question in QUESTIONS if question.name in best}, QUESTIONS)


def interview(questions: Sequence[Question], answer: Callable[[], str | None]) -> None:
    """Ask these questions. `answer` gives a line of whoever is asked; None: there is nobody."""
    had: dict[str, int] = {}

    def ask(prompt: Words) -> str:
        out.print(Text(str(prompt), "cyan"))
        line = answer()
        if line is None or line.strip().lower() in ENOUGH:
            raise Enough
        return line.strip().lower()

    out.print(prose(str(say("interview.welcome", count=len(questions)))))
    try:
        for number, question in enumerate(questions, 1):
            _show_question(question, number, len(questions))
            ask(say("interview.answer_first"))
            _show(say("interview.think"), [question.approach])
            ask(say("interview.on_to_points"))
            had[question.name] = _tick(question, ask)
            out.print(Text(str(say("interview.had", had=had[question.name], points=question.points)), "bold"))
            _show_rest(question)
    except (Enough, KeyboardInterrupt):
        out.print()
    write_best(home(), had)
    if had:
        _show_score(had, [question for question in questions if question.name in had])


def _tick(question: Question, ask: Callable[[Words], str]) -> int:
    had = 0
    for number, point in enumerate(question.key_points, 1):
        out.print(Padding(prose(f"{number}. {point}"), (0, 0, 0, 2)))
        had += ask(say("interview.had_it")) in YES
    return had


def _show_question(question: Question, number: int, count: int) -> None:
    out.print()
    out.print(Text(str(say("interview.number", number=number, count=count, name=question.name)), "dim"))
    out.print(prose(str(question.asked), "bold"))


def _show_rest(question: Question) -> None:
    _show(say("interview.further"), question.further)
    _show(say("interview.code"), [f"{code.file}  {code.name}" for code in question.code])
    commands = [f"selfcheck run --tree solution --only {check}" for check in question.checks]
    out.print(Text(str(say("interview.see")), "cyan"))
    for command in [*commands, *(f"selfcheck experiment {name}" for name in question.experiments)]:
        out.print(Text(f"  {_bullet()} {command}"), soft_wrap=True)  # in one piece: it will be copied


def _show(title: Words, lines: Sequence[Words], *, numbered: bool = False) -> None:
    out.print(Text(str(title), "cyan"))
    rows = Table.grid(padding=(0, 1))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for number, line in enumerate(lines, 1):
        rows.add_row(f"{number}." if numbered else _bullet(), prose(str(line)))
    out.print(Padding(rows, (0, 0, 0, 2), expand=False))


def _bullet() -> str:
    return "-" if plain() else "•"


def _show_score(had: "dict[str, int]", questions: Sequence[Question]) -> None:
    best = read_best(home())
    table = Table(title=str(say("interview.score")), title_justify="left", box=None, padding=(0, 2, 0, 0))
    for title in ("interview.column_name", "interview.column_had", "interview.column_best"):
        table.add_column(str(say(title)), justify="left" if title == "interview.column_name" else "right")
    for question in questions:
        now, before = had.get(question.name), best.get(question.name)
        table.add_row(question.name, *("" if each is None else f"{each}/{question.points}" for each in (now, before)))
    out.print(table)
