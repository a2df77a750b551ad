"""What the store does about questions."""

from datetime import datetime

from shared.adapters.postgres import rows
from shared.adapters.postgres.accepting import Statements
from shared.adapters.postgres.database import Taken
from shared.errors import Fenced
from shared.questions import Answering, Question


class Questioning(Statements):
    """`Questions` on PostgreSQL."""

    async def ask(
        self, question_id: str, run_id: str, attempt: int, number: int, text: str, default: str, expires_at: datetime
    ) -> Question:
        """Ask, or return what was asked under this id, or with this number and text."""
        while True:
            try:
                asked = await self.database.row(
                    self._statements["ask"],
                    rows.text,
                    question_id=question_id,
                    run_id=run_id,
                    attempt=attempt,
                    number=number,
                    text=text,
                    default=default,
                    expires_at=expires_at,
                )
            except Taken:
                continue  # another call was faster, and by now its question is seen
            if asked is None:
                raise Fenced(run_id, attempt)
            question = await self.question(asked)
            if question is not None:  # else the run has ended and was archived: the next try says so
                return question

    async def answer(self, question_id: str, session_id: str | None, text: str) -> Answering | None:
        """Answer a question that is open, and return it as it stands then."""
        settled = await self.database.row(
            self._statements["answer"], rows.settled, question_id=question_id, session_id=session_id, text=text
        )
        return None if settled is None else Answering(*settled)

    async def expire(self, question_id: str, attempt: int) -> Question:
        """Close a question that is open, and return it as it stands then."""
        settled = await self.database.row(
            self._statements["expire"], rows.settled, question_id=question_id, attempt=attempt
        )
        if settled is None:
            raise Fenced(question_id, attempt)
        question, mine = settled
        if not mine:
            raise Fenced(question.run_id, attempt)
        return question

    async def question(self, question_id: str) -> Question | None:
        """Return a question as it stands."""
        return await self.database.row(self._statements["question"], rows.question, question_id=question_id)

    async def questions_of(self, run_id: str) -> list[Question]:
        """Return the run's questions as asked."""
        return await self.database.rows(self._statements["questions_of"], rows.question, run_id=run_id)
