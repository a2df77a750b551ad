"""Verifying from beginning to end: part after part, shown as it is proved, and written down."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from selfcheck.console import out, tell
from selfcheck.outcome import NOT_PASSED, PASSED, USAGE
from selfcheck.results import VERSION, write_named
from selfcheck.texts import say
from selfcheck.trees import kit_root
from selfcheck.verifying.bodies import bodies
from selfcheck.verifying.kit import Kit
from selfcheck.verifying.proof import Proof, skipped
from selfcheck.verifying.screens import screens
from selfcheck.verifying.showing import Screen
from selfcheck.verifying.states import states
from selfcheck.verifying.submissions import Verdict, submissions, total
from selfcheck.verifying.words import words
from shared.events import Json

Name: TypeAlias = Literal["states", "bodies", "mutants", "texts", "screens"]

NAMES: Final[Sequence[Name]] = ("states", "bodies", "mutants", "texts", "screens")
"""The parts, in the order in which they are proved."""

_OF_TESTS: Final = ("mutants", "screens")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be proved: the parts, of the submissions those with one of `words`, and where results go."""

    parts: Sequence[Name] = NAMES
    words: Sequence[str] = ()
    json: Path | None = None


def verify(wish: Wish) -> int:
    """Prove the kit and return the exit code.

    Raises:
        Misconfigured: there is no kit here, or the results cannot be written.
    """
    began = time.monotonic()
    kit = Kit(kit_root())
    out.outlives_its_reader = True
    if wish.words and kit.has_tests and not total(kit, wish.words):
        tell(say("verifying.nobody"))
        return USAGE
    judged: list[Verdict] = []
    proved: dict[Name, list[Proof]] = {}
    if wish.json is not None:  # whether it can be written is known before minutes have gone by
        write_named(wish.json, _document(proved, judged), "--json")
    with tempfile.TemporaryDirectory(prefix="koda-verify-") as folder:
        for name in wish.parts:
            with _tidied(Path(folder) if name in _OF_TESTS else None):
                proved[name] = _shown(name, kit, Path(folder), wish, judged)
    if wish.json is not None:
        write_named(wish.json, _document(proved, judged), "--json")
    everything = [proof for proofs in proved.values() for proof in proofs]
    Screen(out).result(everything, time.monotonic() - began)
    return NOT_PASSED if any(proof.faults for proof in everything) else PASSED


@contextmanager
def _tidied(folder: Path | None) -> Iterator[None]:
    """Have temporary folders made in this one: what lies in tests/ makes some that nobody else would remove."""
    tempfile.tempdir = None if folder is None else str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = None


def _shown(name: Name, kit: Kit, room: Path, wish: Wish, judged: list[Verdict]) -> list[Proof]:
    """Prove a part, and show it; what is judged is added to what was."""
    size = total(kit, wish.words) if name == "mutants" and kit.has_tests else 0
    screen = Screen(out, size, each=name == "mutants" and wish.parts != NAMES)

    def note(verdict: Verdict) -> None:
        judged.append(verdict)
        screen.judged(verdict)

    proofs: list[Proof] = []
    with screen.part(say(f"verifying.part_{name}")):
        for proof in _prove(name, kit, room, wish, note):
            proofs.append(proof)
            screen.proved(proof)
    return proofs


def _prove(name: Name, kit: Kit, room: Path, wish: Wish, note: Callable[[Verdict], None]) -> Iterator[Proof]:
    if name in _OF_TESTS and not kit.has_tests:
        yield skipped(say("verifying.tests"), say("verifying.no_tests", folder=str(kit.root)))
    elif name == "mutants" and not hasattr(os, "fork"):
        yield skipped(say("verifying.tests"), say("verifying.no_fork"))
    elif name == "states":
        yield from states(kit, room)
    elif name == "bodies":
        yield from bodies(kit)
    elif name == "mutants":
        yield from submissions(kit, room, wish.words, note)
    elif name == "texts":
        yield from words(kit)
    else:
        yield from screens(kit.golden(), room)


def _document(proved: dict[Name, list[Proof]], judged: Sequence[Verdict]) -> bytes:
    everything = [proof for proofs in proved.values() for proof in proofs]
    parts: dict[str, Json] = {name: [proof.to_json() for proof in proofs] for name, proofs in proved.items()}
    document: dict[str, Json] = {
        "version": VERSION,
        "proved": sum(proof.count for proof in everything),
        "wrong": sum(len(proof.faults) for proof in everything),
        "skipped": sum(bool(proof.skipped) for proof in everything),
        "parts": parts,
        "submissions": [verdict.to_json() for verdict in sorted(judged, key=lambda verdict: verdict.mutant.name)],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
