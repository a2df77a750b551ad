"""Scripts that work inside their run: they think, use tools, split off sub-runs and ask, as an agent would.

Each is there to be seen: its words are those of the lab's customer service, and it takes seconds, not minutes.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from shared.events import EventKind, Json
from worker.asking import ask_user
from worker.forking import Result, Task, fork
from worker.models.script import Act, Say, Script, Step, Tell, Wait
from worker.monitor import report


class Think(Act, frozen=True):
    """Report a thought; it is its own line for people."""

    text: str

    async def act(self, key: str, kept: dict[str, str]) -> None:
        """Report it."""
        report(EventKind.THINKING, self.text, {"text": self.text})


class Use(Act, frozen=True):
    """Use a tool: report that it starts, let it take its time, and report what it answers."""

    name: str
    arguments: dict[str, Json]
    result: str
    duration: timedelta = timedelta(seconds=1)

    async def act(self, key: str, kept: dict[str, str]) -> None:
        """Use it."""
        report(EventKind.TOOL_STARTED, self.name, {"key": key, "name": self.name, "arguments": self.arguments})
        await asyncio.sleep(self.duration.total_seconds())
        ended: dict[str, Json] = {"key": key, "name": self.name, "result": self.result, "ok": True}
        report(EventKind.TOOL_ENDED, self.result, ended)


class Ask(Act, frozen=True):
    """Ask the user, and keep the answer as `answer`."""

    question: str
    default: str
    timeout: timedelta = timedelta(minutes=2)

    async def act(self, key: str, kept: dict[str, str]) -> None:
        """Ask, and wait."""
        kept["answer"] = await ask_user(self.question, self.timeout.total_seconds(), self.default)


class Split(Act, frozen=True):
    """Have tasks done by sub-runs, and keep what came of them as `results`."""

    tasks: tuple[Task, ...]

    async def act(self, key: str, kept: dict[str, str]) -> None:
        """Split them off, and wait."""
        kept["results"] = " ".join(map(_summary, await fork(self.tasks)))


def _summary(result: Result) -> str:
    return f"{result.title}: {result.text}" if result.ok else f"{result.title}: not known ({result.text})."


_ORDER: Final = Use("order_status", {"order": 4711}, "delivered on Monday")
_STOCK: Final = Use("stock", {"item": "lamp"}, "three left")
_QUESTION: Final = Ask("Would you like your money back, or the same lamp again?", default="your money back")
_COURIER, _WAREHOUSE = Task("The courier", "#part courier"), Task("The warehouse", "#part warehouse")


def _agent(last: Task) -> Script:
    """Return a script that does all that a run can do; of its three tasks, this is the last."""
    steps: tuple[Step, ...] = (
        Think("A lamp that came broken: I look at the order first, and then at what can be done."),
        _ORDER,
        _STOCK,
        Say("Thank you for writing in. I am having this looked into."),
        Split((_COURIER, _WAREHOUSE, last)),
        _QUESTION,
        Tell(" {results} You would like {answer}: it is on its way."),
    )
    return Script(steps)


AGENT_SCRIPTS: Final[Mapping[str, Script]] = {
    "#think": Script((Think("I look at the order."), _ORDER, Say("Your order was delivered on Monday."))),
    "#ask": Script((Say("Thank you for writing in."), _QUESTION, Tell(" You would like {answer}: it is on its way."))),
    "#fork": Script((Say("I am having this looked into."), Split((_COURIER, _WAREHOUSE)), Tell(" {results}"))),
    "#agent": _agent(Task("The insurance", "#part insurance")),
    "#agent-fail": _agent(Task("The insurance", "#refuse insurance")),
    "#part": Script((Think("I look into it."), Wait(timedelta(seconds=1)), Say("All is well."))),
}
"""What the words of `AGENTS` ask for. `#part` is what a sub-run of the others is told."""
