"""The memory store's part of asking: the questions of runs."""

from dataclasses import replace
from datetime import datetime

from shared.adapters.memory.base import StoreBase
from shared.adapters.memory.schema import QuestionRow
from shared.errors import Fenced
from shared.questions import Answering, Question, QuestionState


class Questioning(StoreBase):
    """`Questions` in memory. What withdraws an open question is read off its run (`Tables.question`)."""

    async def ask(
        self, question_id: str, run_id: str, attempt: int, number: int, text: str, default: str, expires_at: datetime
    ) -> Question:
        """Ask, or return what was asked under this id, or with this number and text."""
        tables, run = self._ready(), self._unhindered(run_id, attempt)
        known, before = tables.question_by_id.find(question_id), tables.question_by_number.find((run_id, number))
        if known is None and before is not None and before.asked.text == text:
            known = before
        if known is not None:
            return tables.question(known)
        asked = Question(
            question_id, run_id, run.session_id, number, text, default, expires_at, QuestionState.OPEN, answer=None
        )
        with tables.journal:
            if before is not None:
                tables.questions.update(before.asked.id, lambda _: True, _replaced)
            tables.questions.insert(QuestionRow(next(tables.serials), asked))
        return asked

    async def answer(self, question_id: str, session_id: str | None, text: str) -> Answering | None:
        """Answer a question that is open, and return it as it stands then."""
        question = await self.question(question_id)
        if question is None or session_id not in (None, question.session_id):
            return None
        if question.state is not QuestionState.OPEN:
            return Answering(question, counted=False)
        return Answering(self._settled(question_id, QuestionState.ANSWERED, text), counted=True)

    async def expire(self, question_id: str, attempt: int) -> Question:
        """Close a question that is open, and return it as it stands then."""
        question = await self.question(question_id)
        if question is None:
            raise Fenced(question_id, attempt)
        self._owned(question.run_id, attempt)
        if question.state is not QuestionState.OPEN:
            return question
        return self._settled(question_id, QuestionState.EXPIRED, None)

    async def question(self, question_id: str) -> Question | None:
        """Return a question as it stands."""
        tables = self._ready()
        row = tables.question_by_id.find(question_id)
        return None if row is None else tables.question(row)

    async def questions_of(self, run_id: str) -> list[Question]:
        """Return the run's questions as asked."""
        tables = self._ready()
        return [tables.question(row) for row in tables.questions_by_run.rows(run_id)]

    def _settled(self, question_id: str, state: QuestionState, answer: str | None) -> Question:
        tables = self._tables
        with tables.journal:
            row = tables.questions.update(
                question_id,
                lambda _: True,
                lambda row: replace(row, asked=replace(row.asked, state=state, answer=answer)),
            )
        assert row is not None, "the question is there"
        return row.asked

    def _drop_questions(self, run_id: str) -> None:
        for row in reversed(self._tables.questions_by_run.rows(run_id)):
            self._tables.questions.delete(row)


def _replaced(row: QuestionRow) -> QuestionRow:
    """Return the row of a question whose number goes to another one."""
    state = QuestionState.WITHDRAWN if row.asked.state is QuestionState.OPEN else row.asked.state
    return replace(row, asked=replace(row.asked, state=state), standing=False)
