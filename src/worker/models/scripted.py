"""The model of the lab: a customer-service reply from a script, the same one for the same messages.

It stands where a language model would stand and behaves like one as far as the lab can see: it answers fragment by
fragment, at a pace, and a correction in the messages leads to another reply.
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from datetime import timedelta

from worker.models.port import Fragment, Request, Usage

_REFUND = (
    "Thank you for writing in. I am sorry that the lamp arrived with a broken shade. I have opened a refund for your"
    " order 4711; the full amount will be back on your card within three working days."
)
_EXCHANGE = (
    "Of course, no refund then. I have set up an exchange for your order 4711 instead: a new lamp leaves our"
    " warehouse tomorrow, and the courier takes the broken one back when it is delivered. There is nothing to pay."
)
_CORRECTION = re.compile(r"\bexchange\b|\binstead\b|\bactually\b|换货|换一", re.IGNORECASE)


class ScriptedModel:
    """Replies in 24 to 40 fragments of about a word each, `pace` apart."""

    def __init__(self, pace: timedelta) -> None:
        self._pace_s = pace.total_seconds()

    async def stream(self, request: Request) -> AsyncGenerator[Fragment | Usage]:
        """Yield the scripted reply: the exchange when any message asks for it, else the refund."""
        corrected = any(_CORRECTION.search(message.text) for message in request.messages)
        fragments = split(_EXCHANGE if corrected else _REFUND)
        for fragment in fragments:
            if self._pace_s:
                await asyncio.sleep(self._pace_s)
            yield Fragment(fragment)
        words = sum(len(message.text.split()) for message in request.messages)
        yield Usage(input_tokens=words, output_tokens=len(fragments))


def split(reply: str) -> list[str]:
    """Cut a reply into fragments, each a word with the space before it; joined they are the reply."""
    return re.findall(r"\s*\S+", reply)
