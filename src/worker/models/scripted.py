"""The model of the lab: a customer-service reply from a script, the same one for the same messages.

It stands where a language model would stand and behaves like one as far as the lab can see: it answers fragment by
fragment, at a pace, and a correction in the messages leads to another reply. Some first words of a message (`SCRIPTS`)
have it misbehave instead, so that anybody can see what becomes of a run then; others (`AGENTS`) have it think, use
tools, split off sub-runs and ask.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from shared.ports import Message
from worker.models.port import Finished, FinishReason, Fragment, ModelFailed, Piece, Request, ToolCall, Usage, Working
from worker.models.script import Act, Crash, Fail, Say, Script, Stall, Step, Tell, Wait, split

_REFUND: Final = Say(
    "Thank you for writing in. I am sorry that the lamp arrived with a broken shade. I have opened a refund for your"
    " order 4711; the full amount will be back on your card within three working days."
)
_EXCHANGE: Final = Say(
    "Of course, no refund then. I have set up an exchange for your order 4711 instead: a new lamp leaves our"
    " warehouse tomorrow, and the courier takes the broken one back when it is delivered. There is nothing to pay."
)
_CORRECTION: Final = re.compile(r"\bexchange\b|\binstead\b|\bactually\b|换货|换一", re.IGNORECASE)

_PLACE: Final = re.compile(r"\{(\w+)\}")

_OPENING: Final = Say("Thank you for writing in. Let me look at your order.")
_LOOK_UP: Final = ToolCall("call-0", "order_status", '{"order":4711}')

SCRIPTS: Final[Mapping[str, Script]] = {
    "#tool": Script((_OPENING, _LOOK_UP), FinishReason.TOOL_CALLS),
    "#slow": Script((_OPENING, Wait(timedelta(seconds=20)), _REFUND)),
    "#cut": Script((_OPENING,), FinishReason.LENGTH),
    "#fail": Script((_OPENING, Fail("the model is overloaded"))),
    "#fail-once": Script((_OPENING, Fail("the model is overloaded", attempts=1), _REFUND)),
    "#refuse": Script((_OPENING, Fail("the model will not answer this", permanent=True))),
    "#stall": Script((_OPENING, Stall())),
    "#crash": Script((_OPENING, Crash("a bug in the model's adapter"))),
}
"""What the first word of a run's newest message can ask for. Any other message that joins the run ends it."""

AGENTS: Final = frozenset({"#think", "#ask", "#fork", "#agent", "#agent-fail", "#part"})
"""Further words of this kind: what they ask for is in `agent.py`."""


def chosen(messages: Sequence[Message]) -> Script:
    """Return the newest message's script; without one, the exchange when any message asks for it, else the refund."""
    first_word = (messages[-1].text.split(maxsplit=1) or [""])[0]
    if first_word in SCRIPTS:
        return SCRIPTS[first_word]
    if first_word in AGENTS:
        # Here and not above: every self-check begins with this import, and needs none of that.
        from worker.models.agent import AGENT_SCRIPTS

        return AGENT_SCRIPTS[first_word]
    corrected = any(_CORRECTION.search(message.text) for message in messages)
    return Script((_EXCHANGE if corrected else _REFUND,))


class ScriptedModel:
    """Plays scripts; the words of what it says come `pace` apart.

    `script` is played in every call. Without it the messages choose: one of `SCRIPTS` or `AGENTS`, or 24 to
    40 words of reply.
    """

    def __init__(self, pace: timedelta, script: Script | None = None) -> None:
        self._pace_s = pace.total_seconds()
        self._script = script

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Yield what the script says; usage counts the words of the messages and the fragments of the reply."""
        script = chosen(request.messages) if self._script is None else self._script
        fragments, kept = 0, dict[str, str]()
        for number, step in enumerate(script.steps):
            for piece in _pieces(step, kept):
                if isinstance(piece, Fragment):
                    fragments += 1
                    if self._pace_s:
                        await asyncio.sleep(self._pace_s)
                yield piece
            await _happen(step, request.attempt)
            if isinstance(step, Act):
                await step.act(f"step-{number}", kept)
        words = sum(len(message.text.split()) for message in request.messages)
        yield Finished(script.finish)
        yield Usage(input_tokens=words, output_tokens=fragments)


def _pieces(step: Step, kept: Mapping[str, str]) -> Sequence[Piece]:
    """Return what a step says."""
    match step:
        case Say(text):
            return [Fragment(word) for word in split(text)]
        case Tell(text):
            return [Fragment(word) for word in split(_filled(text, kept))]
        case Fragment() | Working() | ToolCall():
            return [step]
        case _:
            return []


def _filled(text: str, kept: Mapping[str, str]) -> str:
    """Return a text with what was kept in its places, whatever that contains."""
    return _PLACE.sub(lambda place: kept.get(place[1], place[0]), text)


async def _happen(step: Step, attempt: int) -> None:
    """Do what a step does besides saying something."""
    match step:
        case Wait(duration):
            await asyncio.sleep(duration.total_seconds())
        case Fail(problem, permanent, attempts) if attempts is None or attempt <= attempts:
            raise ModelFailed(problem, permanent=permanent)
        case Stall():
            await asyncio.Event().wait()
        case Crash(problem):
            raise RuntimeError(problem)
