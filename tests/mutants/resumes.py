"""Wrong arithmetic after a cut, and cursors that are none."""

from tests.mutants.submission import CRASHED, FAILED, FAILED_OR_CRASHED, Mutant, States, function

RESUME = """\
if last_event_id is None or len(last_event_id) > 18:
    return 0
if not (last_event_id.isascii() and last_event_id.isdigit()):
    return 0
return int(last_event_id) + 1
"""


def resume(
    name: str, symptom: str, body: str, states: States = FAILED, head: bytes = b"", recognised_as: tuple[str, ...] = ()
) -> Mutant:
    """Make a mutant of the function."""
    source = function("resume_from(last_event_id)", body)
    return Mutant(name, 3, symptom, source, head, caught_by=(4,), states=states, recognised_as=recognised_as)


def _instead(old: str, new: str) -> str:
    assert RESUME.count(old) == 1
    return RESUME.replace(old, new)


_BOTH_TESTS = "last_event_id.isascii() and last_event_id.isdigit()"

RESUMES = (
    resume(
        "no-plus-one",
        "the last word before the cut is there twice",
        _instead(" + 1", ""),
        recognised_as=("last-received-again",),
    ),
    resume("plus-two", "the word after the cut never comes", _instead("+ 1", "+ 2"), recognised_as=("one-too-far",)),
    resume(
        "minus-one", "two words before the cut are there twice", _instead("+ 1", "- 1"), recognised_as=("counts-down",)
    ),
    resume(
        "one-for-none",
        "a new reader misses the first word",
        "if not last_event_id:\n    return 1\n" + RESUME,
        recognised_as=("absent-is-one",),
    ),
    resume(
        "minus-one-for-none",
        "a new reader asks for a number that never was",
        "if not last_event_id:\n    return -1\n" + RESUME,
        recognised_as=("absent-is-below-zero",),
    ),
    resume(
        "zero-is-nothing",
        "who was cut after the first word gets it again",
        _instead("return int(last_event_id) + 1", "number = int(last_event_id)\nreturn number + 1 if number else 0"),
        recognised_as=("zero-is-nothing",),
    ),
    resume(
        "int-decides",
        "int() takes ' 7 ', '+7', '1_000' and '٣' for numbers",
        """
        try:
            return max(int(last_event_id), -1) + 1 if len(last_event_id) <= 18 else 0
        except (TypeError, ValueError):
            return 0
        """,
        recognised_as=("int-decides",),
    ),
    resume(
        "isdigit-alone",
        "'²' is a digit, and int() raises on it",
        _instead(_BOTH_TESTS, "last_event_id.isdigit()"),
        FAILED_OR_CRASHED,
        recognised_as=("unicode-digit-raises",),
    ),
    resume(
        "isdecimal-alone",
        "'٣' is a decimal, and counts as 3",
        _instead(_BOTH_TESTS, "last_event_id.isdecimal()"),
        recognised_as=("unicode-digit-counts",),
    ),
    resume(
        "isnumeric",
        "'½' is numeric, and int() raises on it",
        _instead(_BOTH_TESTS, "last_event_id.isnumeric()"),
        FAILED_OR_CRASHED,
        recognised_as=("unicode-digit-raises",),
    ),
    resume(
        "no-limit",
        "five thousand digits make int() raise, twenty a number that no store holds",
        _instead(" or len(last_event_id) > 18", ""),
        FAILED_OR_CRASHED,
        recognised_as=("no-limit",),
    ),
    resume(
        "nineteen-digits",
        "one digit more than 64 bits are sure to hold",
        _instead("18", "19"),
        recognised_as=("limit-too-high",),
    ),
    resume(
        "seventeen-digits",
        "a cursor of eighteen digits begins again",
        _instead("18", "17"),
        recognised_as=("limit-too-low",),
    ),
    resume(
        "dollar-at-the-end",
        "'7\\n' passes: $ matches before a newline",
        """
        if last_event_id is None or not re.match("^[0-9]{1,18}$", last_event_id):
            return 0
        return int(last_event_id) + 1
        """,
        head=b"import re\n",
        recognised_as=("newline-passes",),
    ),
    resume(
        "digits-of-every-script",
        "\\d takes '٣' for a digit",
        r"""
        if last_event_id is None or not re.fullmatch(r"\d{1,18}", last_event_id):
            return 0
        return int(last_event_id) + 1
        """,
        head=b"import re\n",
        recognised_as=("unicode-digit-counts",),
    ),
    resume(
        "digits-at-the-front",
        "'3.0' and '1_000' are taken for what they begin with",
        """
        found = re.match("[0-9]{1,18}", last_event_id or "")
        return int(found[0]) + 1 if found else 0
        """,
        head=b"import re\n",
        recognised_as=("beginning-decides",),
    ),
    resume(
        "strips",
        "' 7 ' is taken for 7",
        "last_event_id = last_event_id and last_event_id.strip()\n" + RESUME,
        recognised_as=("header-stripped",),
    ),
    resume(
        "takes-a-sign",
        "'-1' is taken for 1",
        "last_event_id = last_event_id and last_event_id.lstrip('+-')\n" + RESUME,
        recognised_as=("sign-taken",),
    ),
    resume(
        "no-leading-zeros",
        "'007' begins again",
        "if last_event_id and len(last_event_id) > 1 and last_event_id[0] == '0':\n    return 0\n" + RESUME,
        recognised_as=("leading-zeros-refused",),
    ),
    resume(
        "through-a-float",
        "large numbers lose their last digits",
        _instead("int(last_event_id)", "int(float(last_event_id))"),
        recognised_as=("through-a-float",),
    ),
    resume(
        "returns-a-text",
        "answers '6' instead of 6",
        _instead("int(last_event_id) + 1", "str(int(last_event_id) + 1)"),
        recognised_as=("answers-no-number",),
    ),
    resume(
        "returns-none",
        "answers None when there is no cursor",
        RESUME.replace("return 0", "return None"),
        recognised_as=("none-for-zero",),
    ),
    resume(
        "raises-on-a-wrong-cursor",
        "a header that somebody mistyped is a 500",
        "if last_event_id and not last_event_id.isdigit():\n    raise ValueError(last_event_id)\n" + RESUME,
        CRASHED,
        recognised_as=("wrong-header-raises",),
    ),
    resume(
        "always-one",
        "takes every reader for one who has the first word",
        "return 1",
        recognised_as=("header-not-read",),
    ),
)
