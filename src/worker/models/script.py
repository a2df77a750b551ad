"""Scripts for the scripted model: what it does in a reply, step by step, as data.

    Script((Say("One moment,"), Wait(timedelta(seconds=2)), Fail("overloaded", attempts=1), Say(" please.")))

says two fragments, is silent, and breaks off at the run's first attempt; at every later one it says all three.
"""

import re
from datetime import timedelta
from typing import TypeAlias

import msgspec

from worker.models.port import FinishReason, Fragment, ToolCall, Working

# Structs and not dataclasses, which take half a millisecond each to make: every self-check begins with this import.


class Say(msgspec.Struct, frozen=True):
    """Say a text, a fragment for each word with the space before it. A step that is a piece itself is said as it is."""

    text: str


class Wait(msgspec.Struct, frozen=True):
    """Say nothing for a while."""

    duration: timedelta


class Fail(msgspec.Struct, frozen=True):
    """Raise `ModelFailed`: at each of the first `attempts` of the run and not after them; None: always."""

    problem: str
    permanent: bool = False
    attempts: int | None = None


class Stall(msgspec.Struct, frozen=True):
    """Say nothing more, and do not end either, until the stream is closed."""


class Crash(msgspec.Struct, frozen=True):
    """Raise what no model should: an error that is not of the port."""

    problem: str


class Tell(msgspec.Struct, frozen=True):
    """Say a text in which `{name}` stands for what an `Act` has kept under that name."""

    text: str


class Act(msgspec.Struct, frozen=True):
    """Do something inside the run (see `agent.py`). Whoever plays the script needs a run around it."""

    async def act(self, key: str, kept: dict[str, str]) -> None:
        """Do it. `key` is the step's own in its script; what is to be told later is kept under a name."""
        raise NotImplementedError


Step: TypeAlias = Say | Fragment | Working | ToolCall | Wait | Fail | Stall | Crash | Tell | Act


class Script(msgspec.Struct, frozen=True):
    """One reply: its steps in order, then why it ends."""

    steps: tuple[Step, ...]
    finish: FinishReason = FinishReason.STOP


def split(text: str) -> list[str]:
    """Cut a text into fragments, each a word with the space before it; joined they are the text.

    Space at the text's end goes with its last word. A blank text has no fragment.
    """
    return re.findall(r"\s*\S+(?:\s+\Z)?", text)
