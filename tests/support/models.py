"""What tests of models share: requests, and what becomes of a reply."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from tests.support.runs import a_message
from worker.models.port import Fragment, Model, ModelFailed, Piece, Request


def asked(*texts: str, attempt: int = 1) -> Request:
    """Return a call of the model with these messages, oldest first."""
    messages = [replace(a_message(f"m{number}"), text=text) for number, text in enumerate(texts)]
    return Request("run-1", attempt, messages)


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a model said in one call, and how it failed, if it did: (problem, permanent)."""

    pieces: list[Piece]
    failure: tuple[str, bool] | None = None


async def outcome(stream: AsyncGenerator[Piece]) -> Outcome:
    """Read a stream to its end."""
    pieces: list[Piece] = []
    try:
        async with aclosing(stream):
            async for piece in stream:
                pieces.append(piece)
    except ModelFailed as failed:
        return Outcome(pieces, (failed.problem, failed.permanent))
    return Outcome(pieces)


async def reply_of(model: Model, *texts: str, attempt: int = 1) -> Outcome:
    """Call a model and read all it says."""
    return await outcome(model.stream(asked(*texts, attempt=attempt)))


def said(pieces: list[Piece]) -> list[str]:
    """Return the texts of the fragments."""
    return [piece.text for piece in pieces if isinstance(piece, Fragment)]
