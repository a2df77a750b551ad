"""What the worker asks of a model: a stream of pieces that can be closed at any point."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

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
class Usage:
    """What the call cost, in tokens. At most one, at the end."""

    input_tokens: int
    output_tokens: int


class ModelFailed(Exception):
    """The model did not deliver. `permanent` says that asking again would give the same answer."""

    def __init__(self, problem: str, *, permanent: bool = False) -> None:
        self.problem = problem
        self.permanent = permanent
        super().__init__(problem)


class Model(Protocol):
    """A model. Calls may overlap; each stream is read by one task."""

    def stream(self, request: Request) -> AsyncGenerator[Fragment | Usage]:
        """Yield the reply's fragments as they come, then its usage.

        Closing the generator (`aclose`) or cancelling the task in it aborts the request behind it.

        Raises:
            ModelFailed: before the first fragment, or between any two.
        """
        ...
