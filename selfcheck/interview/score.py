"""What one had of each question, at best: remembered from one interview to the next."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from selfcheck.home import put, recalled
from selfcheck.interview.questions import QUESTIONS

FILE = "interview.json"


def read_best(folder: Path) -> dict[str, int]:
    """Return for each question asked before how many points one had at best. What cannot be read is forgotten."""
    try:
        read = msgspec.json.decode(recalled(folder / FILE), type=dict[str, int])
    except (OSError, msgspec.MsgspecError):
        return {}
    return {each.name: min(max(read[each.name], 0), each.points) for each in QUESTIONS if each.name in read}


def write_best(folder: Path, had: Mapping[str, int]) -> None:
    """Remember these where they are better. Where nothing can be written, nothing is remembered."""
    best = read_best(folder)
    for name, points in had.items():
        best[name] = max(points, best.get(name, 0))
    with contextlib.suppress(OSError):
        put(folder / FILE, msgspec.json.encode(best))
