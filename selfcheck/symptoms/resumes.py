"""Exercise 3: what is wrong with the arithmetic, or with what is taken for a cursor."""

from collections.abc import Sequence
from typing import Final

from selfcheck.symptoms.table import Answer, Symptom, Table, kind, raised, returned

BEYOND_FLOATS: Final = "9007199254740993"  # the first whole number that a float does not hold
HEADERS: Final[Sequence[str | None]] = (
    None, "", "0", "5", "41", "007", BEYOND_FLOATS, "9" * 18, "9" * 19, "9" * 20, "9" * 5000, "-1", "+7", " 7 ", "7 ",
    "7\n", "1_000", "1.5", "1e3", "0x10", "abc", "5x", "²", "½", "٣",
)  # fmt: skip
NO_CURSORS: Final = ("-1", "+7", " 7 ", "7 ", "7\n", "1_000", "1.5", "1e3", "0x10", "abc", "5x", "²", "½", "٣")
CURSORS: Final = ("0", "5", "41", "007", BEYOND_FLOATS, "9" * 18)


class Cursors:
    """What was answered for each header."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.said = dict(zip(HEADERS, answers, strict=True))

    def gives(self, header: str | None, number: int) -> bool:
        """Whether this header was answered by this number."""
        return returned(self.said[header], number)

    def raises(self, header: str | None) -> str:
        """Return the type of what this header raised, "" for nothing."""
        return raised(self.said[header])

    def takes(self, header: str) -> bool:
        """Whether this header was taken for a cursor."""
        return not self.raises(header) and not self.gives(header, 0)

    @property
    def answers(self) -> list[Answer]:
        """All answers."""
        return [*self.said.values()]


def _answers_no_number(seen: Cursors) -> bool:
    answer = seen.said["5"].get("returned")
    return "returned" in seen.said["5"] and (kind(answer) != "int")


def _answers_none(seen: Cursors) -> bool:
    return any(returned(answer, None) for answer in seen.answers)


def _answers_the_same(seen: Cursors) -> bool:
    return all(answer == seen.said["5"] for answer in seen.answers)


def _int_decides(seen: Cursors) -> bool:
    return sum(seen.takes(header) for header in (" 7 ", "+7", "1_000")) >= 2


TABLE: Final = Table(
    [*HEADERS],
    Cursors,
    (
        Symptom("raises-always", lambda seen: all(map(raised, seen.answers))),
        Symptom("answers-no-number", _answers_no_number),
        Symptom("none-for-zero", _answers_none),
        Symptom("header-not-read", _answers_the_same),
        Symptom("absent-header-raises", lambda seen: bool(seen.raises(None))),
        Symptom("empty-header-raises", lambda seen: bool(seen.raises(""))),
        Symptom("last-received-again", lambda seen: seen.gives("5", 5)),
        Symptom("one-too-far", lambda seen: seen.gives("5", 7)),
        Symptom("counts-down", lambda seen: seen.gives("5", 4)),
        Symptom("absent-is-one", lambda seen: seen.gives(None, 1) or seen.gives("", 1)),
        Symptom("absent-is-below-zero", lambda seen: seen.gives(None, -1) or seen.gives("", -1)),
        Symptom("zero-is-nothing", lambda seen: seen.gives("0", 0) and seen.gives("5", 6)),
        Symptom("wrong-header-raises", lambda seen: bool(seen.raises("abc"))),
        Symptom("unicode-digit-raises", lambda seen: bool(seen.raises("²") or seen.raises("½"))),
        Symptom("float-decides", lambda seen: seen.gives("1e3", 1001)),
        Symptom("int-decides", _int_decides),
        Symptom("beginning-decides", lambda seen: seen.gives("1.5", 2)),
        Symptom("header-stripped", lambda seen: seen.gives(" 7 ", 8) or seen.gives("7 ", 8)),
        Symptom("sign-taken", lambda seen: seen.takes("-1") or seen.takes("+7")),
        Symptom("newline-passes", lambda seen: seen.gives("7\n", 8)),
        Symptom("unicode-digit-counts", lambda seen: seen.takes("٣")),
        Symptom("through-a-float", lambda seen: not seen.gives(BEYOND_FLOATS, int(BEYOND_FLOATS) + 1)),
        Symptom("no-limit", lambda seen: seen.takes("9" * 20) or bool(seen.raises("9" * 5000))),
        Symptom("limit-too-high", lambda seen: seen.takes("9" * 19)),
        Symptom("limit-too-low", lambda seen: seen.gives("9" * 18, 0)),
        Symptom("leading-zeros-refused", lambda seen: seen.gives("007", 0)),
        Symptom("header-raises", lambda seen: any(map(raised, seen.answers))),
        Symptom("no-cursor-taken", lambda seen: any(map(seen.takes, NO_CURSORS))),
        Symptom("cursor-misread", lambda seen: not all(seen.gives(header, int(header) + 1) for header in CURSORS)),
    ),
)
