"""Questions: what a run may ask its user while it is active, and how the store keeps them.

A question belongs to its run and not to the attempt that asked it: after a take-over it is still pending, and its
answer is the successor's. It is known by its number, the how-manieth of the run's present course it is, so that a
worker that begins again finds what was asked before it, answered or not.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class QuestionState(StrEnum):
    """Where a question stands. Nothing leaves any of these but `open`."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"  # nobody answered in time; the run goes on with the default
    WITHDRAWN = "withdrawn"  # its run ended, shall stop, or asks something else by now


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it stood when it was read. `answer` is the text of the first answer, None while there is none."""

    id: str
    run_id: str
    session_id: str
    number: int  # 0, 1, 2 … in the run's present course
    text: str
    default: str
    expires_at: datetime
    state: QuestionState
    answer: str | None


@dataclass(frozen=True, slots=True)
class Answering:
    """What became of an answer. `counted`: it is the first, and the question's answer from now on."""

    question: Question
    counted: bool


class Questions(Protocol):
    """The questions of all runs. Each call is one transaction; all may raise `Unavailable`.

    What ends a run (`Store.finish` or `Store.move`, whichever end) and what notes that it shall stop
    (`Store.ask_cancel`) withdraws the run's open questions, in the same transaction. `Store.archive` drops them all.
    """

    async def ask(
        self, question_id: str, run_id: str, attempt: int, number: int, text: str, default: str, expires_at: datetime
    ) -> Question:
        """Ask, or find what was asked: return the run's question with this number.

        One that has the same text stands as it is, its id, deadline and answer included. One that has another text (the
        run has begun again with more messages) gives its number to this one; while it is open it is withdrawn. Asking
        with an id that is there already returns that question, whatever its number and text, as it stands.

        Raises:
            Fenced: the run is not active with this attempt, or its cancel was asked. Nothing was written.
        """
        ...

    async def answer(self, question_id: str, session_id: str | None, text: str) -> Answering | None:
        """Answer an open question; of two answers the first counts, and the second is told so.

        `expires_at` is not looked at: an answer counts until the run's owner has closed the question (`expire`).
        None: there is no such question, or it is of another session than this one (None: of whichever).
        """
        ...

    async def expire(self, question_id: str, attempt: int) -> Question:
        """Close a question that nobody answered, and return it as it stands then: an answer may have been faster.

        Repeating it is fine. A question that was withdrawn, by a wish that the run stop as well, is returned as such.

        Raises:
            Fenced: its run is not active with this attempt (or there is no such question: then `run_id` is the
                question's id). Nothing was written.
        """
        ...

    async def question(self, question_id: str) -> Question | None:
        """Return a question, None when there is none with this id."""
        ...

    async def questions_of(self, run_id: str) -> list[Question]:
        """Return all questions of a run in the order in which they were asked, withdrawn ones included."""
        ...
