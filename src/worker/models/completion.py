"""Read one streamed chat completion from its chunks, as OpenAI's API reference has them and many servers send them.

No I/O. A chunk that cannot be read fails the reply: to pass over it would be to leave a hole in the text.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from shared.events import Json
from shared.sse import EventStreamParser
from worker.models.calls import Calls, ToolDelta
from worker.models.port import Finished, FinishReason, Fragment, Piece, Usage, Working
from worker.models.refusal import Refused, error_in, refusal_for

MOST_WITHOUT_EVENT: Final = 8 * 2**20  # bytes; no fragment is so long, so what has no event in them is no event stream

_END: Final = "[DONE]"
_REASONS: Final = {reason.value: reason for reason in FinishReason}


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None  # what the model says instead of the content when it declines
    reasoning: object = None  # what it says to itself, under two names and in several shapes
    reasoning_content: object = None
    tool_calls: list[ToolDelta] | None = None


class _Choice(msgspec.Struct):
    index: int | None = None
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Tokens | None = None


class Completion:
    """Reads one reply: `feed` it the body as it comes, then `rest`.

    `ended` says that the server called this the end; nothing that comes after it belongs to the reply. `complete` says
    that nothing is missing from the text: the server gave a reason for stopping, or called it the end.
    """

    def __init__(self) -> None:
        self.ended = False
        self._parser = EventStreamParser()
        self._since_event = 0
        self._reason: FinishReason | None = None
        self._usage: Usage | None = None
        self._calls = Calls()

    @property
    def complete(self) -> bool:
        """Whether the reply may end here."""
        return self.ended or self._reason is not None

    def feed(self, chunk: bytes) -> Iterator[Fragment | Working]:
        """Take the next bytes, cut anywhere, and yield what they complete. Read it to its end.

        Raises:
            Refused: as `take`; or there is no event in so many bytes.
        """
        events = self._parser.feed(chunk)
        for event in events:
            yield from self.take(event.data)
        self._since_event = 0 if events else self._since_event + len(chunk)
        if self._since_event > MOST_WITHOUT_EVENT:
            raise Refused(f"the model's server sent {self._since_event} bytes without an event")

    def take(self, data: str) -> Sequence[Fragment | Working]:
        """Take the data of one event and return the text in it, or that the model works on something else.

        An empty text says nothing (servers begin with one, to name the role) and is no fragment.

        Raises:
            Refused: it is an error, or not a chunk.
        """
        data = data.strip()
        if data == _END:
            self.ended = True
        if self.ended or not data:
            return []
        chunk = _decode(data)
        self._count(chunk.usage)
        choices = [choice for choice in chunk.choices or () if not choice.index]  # we ask for one, number 0
        for choice in choices:
            self._take_choice(choice)
        deltas = [choice.delta for choice in choices if choice.delta is not None]
        fragments = [Fragment(text) for delta in deltas for text in (delta.content, delta.refusal) if text]
        return fragments or [Working() for delta in deltas[:1] if _works(delta)]

    def rest(self) -> list[Piece]:
        """Return what follows the last fragment: tool calls, why it ends, usage.

        Raises:
            Refused: the reply is not complete, or holds a tool call that cannot be read.
        """
        if not self.complete:
            raise Refused("the model's server broke off in the middle of the reply")
        pieces: list[Piece] = [*self._calls.complete(), Finished(self._reason or FinishReason.OTHER)]
        if self._usage is not None:
            pieces.append(self._usage)
        return pieces

    def _take_choice(self, choice: _Choice) -> None:
        if choice.delta is not None:
            for delta in choice.delta.tool_calls or ():
                self._calls.take(delta)
        if choice.finish_reason == "error":
            raise Refused("the model's server ended the reply with an error")
        if choice.finish_reason:  # some send "" in every chunk before the last
            self._reason = _REASONS.get(choice.finish_reason, FinishReason.OTHER)

    def _count(self, tokens: _Tokens | None) -> None:
        """Keep the newest usage: some servers count aloud in every chunk."""
        if tokens is not None and tokens.prompt_tokens is not None and tokens.completion_tokens is not None:
            self._usage = Usage(tokens.prompt_tokens, tokens.completion_tokens)


def _works(delta: _Delta) -> bool:
    return bool(delta.tool_calls or delta.reasoning or delta.reasoning_content)


def _decode(data: str) -> _Chunk:
    try:
        # The standard library's reader, for msgspec's refuses the half of an emoji that was split between two chunks.
        decoded: Json = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused("the model's server sent a chunk that is not JSON", data) from error
    if (reported := error_in(decoded)) is not None:
        raise refusal_for(reported)
    try:
        return msgspec.convert(decoded, _Chunk)
    except msgspec.ValidationError as error:
        raise Refused(f"the model's server sent a chunk of an unknown shape: {error}", data) from error
