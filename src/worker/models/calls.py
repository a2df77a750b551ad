"""Tool calls on their way: put together from the deltas of a stream. No I/O.

OpenAI numbers the calls of a reply and repeats nothing; servers that imitate it number all of them 0, leave the number
out, or give one call a new id in every delta. What all have in common: the first delta of a call names its function.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from shared.events import Json
from shared.text import clean
from worker.models.port import ToolCall
from worker.models.refusal import Refused

MOST_NESTED: Final = 100  # levels of arguments; whoever shows a run looks into them, and has only so much of a stack


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class ToolDelta(msgspec.Struct):
    """A part of one call, as it stands in a chunk."""

    index: int | None = None
    id: str | None = None
    function: _Function | None = None


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        # Cleaned as a whole, for the two halves of an emoji may have come in two parts.
        return clean("".join(self.parts)).strip() or "{}"


class Calls:
    """The tool calls of one reply. Deltas of several may be interleaved where they are numbered."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._open: dict[int, _Call] = {}
        self._index = 0  # of the newest delta; one without a number belongs there

    def take(self, delta: ToolDelta) -> None:
        """Take the next delta of any call."""
        self._index = self._index if delta.index is None else delta.index
        call = self._open.get(self._index)
        if call is None or _begins(delta, call):
            call = self._open[self._index] = _Call()
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        if delta.function is not None:
            call.name = call.name or delta.function.name or ""
            call.parts.append(delta.function.arguments or "")

    def complete(self) -> list[ToolCall]:
        """Return the calls in the order of their beginnings, each under a key of its own.

        Raises:
            Refused: one has no name, or its arguments are no JSON object (cut short, for example) or a bottomless one.
        """
        complete: dict[str, ToolCall] = {}
        for number, call in enumerate(self._calls):
            if not call.name or not _is_object(call.arguments):
                raise Refused("the model wrote a tool call that cannot be read", f"{call.name} {call.arguments}")
            key = clean(call.id) or f"call-{number}"
            while key in complete:
                key = f"{key}-{number}"
            complete[key] = ToolCall(key, clean(call.name), call.arguments)
        return list(complete.values())


def _begins(delta: ToolDelta, call: _Call) -> bool:
    """Whether a delta begins a call of its own, although there is an open one under its number."""
    if not (call.name and delta.function is not None and delta.function.name):
        return False
    if delta.id and call.id:
        return delta.id != call.id
    return _is_object("".join(call.parts))


def _is_object(text: str) -> bool:
    try:
        decoded: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return isinstance(decoded, dict) and not _is_too_deep(decoded)


def _is_too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MOST_NESTED):
        level = [inner for each in level for inner in _inside(each)]
    return bool(level)


def _inside(value: Json) -> Iterable[Json]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()
