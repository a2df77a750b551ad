"""The golden screens: what the command prints of three trees is what is kept, byte for byte."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from selfcheck.texts import say
from selfcheck.verifying.kit import Golden
from selfcheck.verifying.proof import Fault, Proof

_AT_ONCE = 2


def screens(golden: Golden, room: Path) -> Iterator[Proof]:
    """Print every screen anew and compare it; and look whether others are kept, which would only look like screens."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        printed = [*threads.map(lambda screen: golden.printed(room / ".".join(screen), *screen), golden.SCREENS)]
    faults = [
        fault
        for screen, text in zip(golden.SCREENS, printed, strict=True)
        for fault in _differs(golden.file_of(*screen), text)
    ]
    kept = {golden.file_of(*screen) for screen in golden.SCREENS}
    faults += [_stale(path) for path in sorted(golden.FOLDER.iterdir()) if path not in kept]
    yield Proof(say("verifying.screens"), len(golden.SCREENS), faults)


def _differs(file: Path, printed: str) -> Iterator[Fault]:
    kept = file.read_text("utf-8") if file.exists() else ""
    if printed != kept:
        ours, theirs = kept.splitlines(), printed.splitlines()
        same = (at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1])
        at = next(same, min(len(ours), len(theirs)))
        where = f"{_place(file)}:{at + 1}"
        expected, actual = (repr("".join(each[at : at + 1])) for each in (ours, theirs))
        yield Fault(say("verifying.screen"), where, expected, actual, say("verifying.make_golden"))


def _stale(path: Path) -> Fault:
    remedy = say("verifying.make_golden")
    return Fault(say("verifying.stale"), _place(path), say("verifying.nothing"), path.name, remedy)


def _place(file: Path) -> str:
    return f"tests/golden/{file.name}"
