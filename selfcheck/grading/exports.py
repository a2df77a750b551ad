"""Exports: the records in the forms that other programs read. Everything in them is in English."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

import msgspec

from selfcheck.grading.record import Record
from selfcheck.reporting.junit import ERRORS
from selfcheck.results import State
from selfcheck.texts import english, say
from shared.events import Json

_SAID = (("rule", "broken_rule"), ("given", "given"), ("expected", "expected"), ("actual", "actual"), ("open", "where"))


def junit(records: Sequence[Record]) -> bytes:
    """Return JUnit's XML: a suite for each submission, a case for each check, as `run` writes them."""
    root = ElementTree.Element("testsuites", name="koda lab")
    for record in records:
        states = record.states
        errors = sum(state in ERRORS for state in states)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_xml(record.name),
            tests=str(len(states)),
            failures=str(len(states) - record.passed - errors),
            errors=str(errors),
        )
        if record.flags:
            listed = ElementTree.SubElement(suite, "properties")
            ElementTree.SubElement(listed, "property", name="flags", value=" ".join(record.flags))
        for check, state in zip(record.checks, states, strict=True):
            case = ElementTree.SubElement(
                suite, "testcase", classname=_xml(record.name), name=f"{check['id']} {check['name']}"
            )
            if state is not State.PASSED:
                kind = "error" if state in ERRORS else "failure"
                fault = ElementTree.SubElement(case, kind, type=str(state), message=_xml(str(check["actual"])))
                fault.text = _xml(_explained(check))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def gradescope(record: Record) -> bytes:
    """Return one submission's `results.json` as Gradescope reads it: a point for each check."""
    tests: list[Json] = [
        {
            "name": f"{check['id']} {check['name']}",
            "number": str(check["id"]),
            "score": float(state is State.PASSED),
            "max_score": 1.0,
            "status": "passed" if state is State.PASSED else "failed",
            "output": "" if state is State.PASSED else f"{_word(state)}\n{_explained(check)}".strip(),
        }
        for check, state in zip(record.checks, record.states, strict=True)
    ]
    document: dict[str, Json] = {
        "score": float(record.passed),
        "output": "\n".join(english(say(flag_key(flag))) for flag in record.flags),
        "output_format": "text",
        "visibility": "visible",
        "tests": tests,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def flag_key(flag: str) -> str:
    """Return the name of the text that says what a flag means."""
    return f"grading.{flag.replace('-', '_')}"


def _word(state: State) -> str:
    return english(say(f"states.{state}"))


def _explained(check: Mapping[str, object]) -> str:
    lines = [f"{label}: {check[name]}" for label, name in _SAID if check[name]]
    if blockers := check["blocked_by"]:
        assert isinstance(blockers, list), "exercises are listed"
        lines.append(f"blocked by: {', '.join(str(number) for number in blockers)}")
    return "\n".join(lines)


def _xml(text: str) -> str:
    """Return a text without what XML 1.0 cannot hold: it comes from a submission."""
    return "".join(c if c in "\t\n" or c.isprintable() else "\ufffd" for c in text)
