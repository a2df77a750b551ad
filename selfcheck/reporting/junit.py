"""JUnit XML: the results for whatever collects test reports.

The file agrees with the exit code: every check that does not pass is counted as such, `todo` and `blocked` too, so that
nobody who counts failures takes an exercise that was not begun for one that is right. What the exercise got wrong is a
`failure`; what kept it from being judged (it raised, did not return, or the surroundings failed) is an `error`. Its
`type` is the state. A check that has not been played (yet) is skipped.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from selfcheck.results import CheckResult, Report, State, write_named
from selfcheck.texts import Words, english, say

ERRORS = frozenset({State.CRASHED, State.HUNG, State.ENVIRONMENT})
"""What keeps an exercise from being judged; what it gets wrong is a failure."""

# What XML 1.0 cannot hold, escaped or not (section 2.2, "Char"). A tree may have put it there.
_NO_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, report: Report, names: Sequence[tuple[int, Words]]) -> None:
    """Write the report, so that a kill at any moment leaves the old file or the new one.

    `names` are all checks that are to be played.

    Raises:
        Misconfigured: the place cannot be written to.
    """
    write_named(path, junit(report, names), "--junit")


def junit(report: Report, names: Sequence[tuple[int, Words]]) -> bytes:
    """Return the document."""
    found = {check.id: check for check in report.checks}
    errors = sum(check.status in ERRORS for check in report.checks)
    failures = len(report.checks) - report.passed - errors
    counts = {"tests": len(names), "failures": failures, "errors": errors, "skipped": len(names) - len(report.checks)}
    shown = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": "selfcheck", **shown})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _held(f"selfcheck {report.tree}"), **shown})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("mode", report.mode), ("tree", report.tree), ("seed", str(report.seed))):
        ElementTree.SubElement(properties, "property", {"name": key, "value": _held(value)})
    for number, name in names:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "selfcheck", "name": f"{number} {_held(english(name))}"}
        )
        if number not in found:
            ElementTree.SubElement(case, "skipped", {"message": english(say("feedback.not_played"))})
        elif found[number].status is not State.PASSED:
            _add_fault(case, found[number])
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_fault(case: ElementTree.Element, check: CheckResult) -> None:
    kind = "error" if check.status in ERRORS else "failure"
    finding = check.finding
    rows = {"rule": finding.broken_rule, "given": finding.given, "expected": finding.expected, "actual": finding.actual}
    lines = [f"{name}: {english(words)}" for name, words in rows.items() if english(words)]
    lines += [f"open: {check.where}"] if check.where else []
    lines += [f"blocked by: {', '.join(map(str, check.blocked_by))}"] if check.blocked_by else []
    message = english(finding.actual) or english(finding.broken_rule)
    fault = ElementTree.SubElement(case, kind, {"type": str(check.status), "message": _held(message)})
    fault.text = _held("\n".join(lines))


def _held(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", text)
