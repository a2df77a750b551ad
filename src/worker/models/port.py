"""What the worker asks of a model: a stream of pieces that can be closed at any point."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from shared.ports import Message


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the model: all messages of the run, oldest first."""

    run_id: str
    attempt: int
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of the reply's text. Empty is a fragment too; an emoji may be split between two."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """The model is not silent, but at work on what is not to be shown: it thinks, or is writing a tool call."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called, in one piece: half of its arguments would be of use to nobody.

    `key` tells the calls of one reply apart. `arguments` is the text of a JSON object, as the model wrote it and
    checked for no more than that; it can be stored and streamed as it is (`shared.text.clean`), and so can `name`.
    """

    key: str
    name: str
    arguments: str


class FinishReason(StrEnum):
    """Why the model stopped, in its own words: a reply may hold tool calls and have stopped for another reason."""

    STOP = "stop"  # it has said all it had to say
    LENGTH = "length"  # a limit cut it short
    TOOL_CALLS = "tool_calls"  # it waits for what the tools answer
    CONTENT_FILTER = "content_filter"  # something was left out
    OTHER = "other"  # a reason that we have no word for, or none was given


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is complete, and this is why it ends here. At most one; only usage comes after it."""

    reason: FinishReason


@dataclass(frozen=True, slots=True)
class Usage:
    """What the call cost, in tokens. At most one, at the end."""

    input_tokens: int
    output_tokens: int


Piece: TypeAlias = Fragment | Working | ToolCall | Finished | Usage
"""What a reply is made of. Readers let pass what they do not know, so that a further kind breaks none of them."""


class ModelFailed(Exception):
    """The model did not deliver. `permanent` says that asking again would give the same answer.

    Waiters are told the `problem`: it is in our own words, holds no secret, and repeats nothing that a server said.
    """

    def __init__(self, problem: str, *, permanent: bool = False) -> None:
        self.problem = problem
        self.permanent = permanent
        super().__init__(problem)


class Model(Protocol):
    """A model. Calls may overlap; each stream is read by one task."""

    def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Yield the reply's fragments and tool calls as they come, then why it ends, then its usage.

        A stream that ends by itself was complete. Closing the generator (`aclose`) or cancelling the task in it aborts
        the request behind it. A model that falls silent stays so: how long that may last (between any
        two pieces) is for its reader to say.

        Raises:
            ModelFailed: before the first piece, or between any two.
        """
        ...
