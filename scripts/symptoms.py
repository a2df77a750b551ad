"""Write `docs/symptoms.md` anew, from the catalogue. Run it as `make symptoms`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from selfcheck import symptoms  # noqa: E402
from selfcheck.texts import LANGUAGES, Lang, text  # noqa: E402
from selfcheck.trees import EXERCISES  # noqa: E402

TARGET: Final = ROOT / "docs" / "symptoms.md"

_HEAD: Final = """\
# Symptoms

Common mistakes, recognised by what an exercise answers, and the question that each is met with. No verdict depends on
one. Whoever has not solved the exercises reads better what `selfcheck run` says, and leaves this for later.

常见错误：从练习的应答中认出症状，各回以一个问题。检查是否通过与症状无关。练习还没做完的话，先看 `selfcheck run`
怎么说，这一页留到以后再读。
"""


def page() -> str:
    """Return the page: a table for each exercise, with what any of them may show at the end."""
    general = {name for name in symptoms.names() if all(name in symptoms.names(each) for each in EXERCISES)}
    tables = [_table(f"Exercise {each}", [*_own(each, general)]) for each in EXERCISES]
    return "\n".join([_HEAD, *tables, _table("Any exercise", [name for name in symptoms.names() if name in general])])


def _own(exercise: int, general: set[str]) -> Iterator[str]:
    return (name for name in symptoms.names(exercise) if name not in general)


def _table(title: str, names: list[str]) -> str:
    rows = [" | ".join(["", f"`{name}`", *(_cell(name, lang) for lang in LANGUAGES), ""]) for name in names]
    head = ["| symptom | question | 问题 |", "|---|---|---|"]
    return "\n".join([f"## {title}", "", *head, *(row.strip() for row in rows), ""])


def _cell(name: str, lang: Lang) -> str:
    return text(symptoms.question(name), lang).replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
