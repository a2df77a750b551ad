"""Answers: what a user says to a question of a run. The store takes it first, and then its worker is told."""

from gateway.doorbell import Doorbell
from gateway.intake import AnswerRequest
from shared.errors import QuestionClosed, UnknownQuestion, UnknownRun
from shared.logs import logger, note
from shared.ports import Store
from shared.questions import Questions

log = logger("gateway")


class Answers:
    """Takes answers for one gateway, by whichever way they come. Calls may overlap."""

    def __init__(self, questions: Questions, store: Store, doorbell: Doorbell) -> None:
        self._questions = questions
        self._store = store
        self._doorbell = doorbell

    async def to_run(self, run_id: str, answer: AnswerRequest) -> None:
        """Take an answer to a question of this run.

        Raises:
            UnknownRun: there is no such run.
            UnknownQuestion: the run has no such question.
            QuestionClosed: it takes no answer any more. Of several answers, the first has counted.
            Unavailable: the store is away.
        """
        question = await self._questions.question(answer.question_id)
        if question is None or question.run_id != run_id:
            if await self._store.run(run_id) is None:
                raise UnknownRun(run_id)
            raise UnknownQuestion(answer.question_id)
        await self._take(None, answer)

    async def in_session(self, session_id: str, answer: AnswerRequest) -> str:
        """Take an answer to a question of this session; return the id of the run that asked.

        Raises:
            UnknownQuestion, QuestionClosed, Unavailable: as for a run's.
        """
        return await self._take(session_id, answer)

    async def _take(self, session_id: str | None, answer: AnswerRequest) -> str:
        taken = await self._questions.answer(answer.question_id, session_id, answer.text)
        if taken is None:
            raise UnknownQuestion(answer.question_id)
        question = taken.question
        note(log, "answer_taken", run_id=question.run_id, question_id=question.id, counted=taken.counted)
        if not taken.counted:
            raise QuestionClosed(question.id, question.state, question.answer)
        await self._doorbell.answered(question.run_id)
        return question.run_id
