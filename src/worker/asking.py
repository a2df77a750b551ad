"""Asking: a run that cannot go on without its user puts a question, waits, and goes on with the answer.

    colour = await ask_user("Red or blue?", timeout_s=60, default="red")

The question is in the store before anybody can read it, so an answer finds it whichever gateway it comes to, and so
does the successor of a worker that dies with it: the same number with the same text is the same question, with its
deadline and its answer. The bus says that there is an answer, the store what it is.
"""

from datetime import timedelta
from typing import Final
from uuid import uuid4

from shared.errors import Fenced, Unavailable
from shared.events import EventKind, Json
from shared.forks import is_sub_run
from shared.logs import logger, note
from shared.questions import Question, QuestionState
from shared.text import clean
from worker.course import Course, here
from worker.monitor import line

log = logger("worker")

UNANSWERED: Final = "The user has not answered in time."
REFUSAL: Final = "A sub-task cannot ask the user. Decide by what you know."
LONGEST_S: Final = 24 * 3600.0


async def ask_user(question: str, timeout_s: float = 120.0, default: str = UNANSWERED) -> str:
    """Ask the user of the run around the caller, and return the answer: their text, or `default` when none came.

    The run stays active and waits at nobody's expense: its slot is another run's meanwhile, and neither the bound on
    the model's silence nor that on the attempt counts. `timeout_s` counts from the first asking, over the deaths of
    workers. Calls may overlap: each is a question of its own, numbered in the order of the calls. In a sub-run, which
    has no user, it returns a refusal at once.

    The call is cancelled when the run is to stop, or begins again with another message.

    Raises:
        ValueError: there is no question, or the time is not more than nothing and at most a day.
        NotInside: there is no run around the caller.
        LostOwnership: the run is somebody else's. Let it pass.
    """
    text, fallback = clean(question), clean(default)
    if not text.strip():
        raise ValueError("question: is blank; say what the user shall answer")
    if not 0 < timeout_s <= LONGEST_S:
        raise ValueError(f"timeout_s: is {timeout_s}, not more than 0 and at most {LONGEST_S:g} seconds")
    course = here()
    if is_sub_run(course.claim.run):
        note(log, "question_refused", run_id=course.claim.run.id)
        return REFUSAL
    number = course.asked
    course.asked += 1
    async with course.aside():
        asked = await _ask(course, number, text[: course.settings.max_text], fallback, timeout_s)
        return await _told(course, await _settled(course, asked))


async def _ask(course: Course, number: int, text: str, default: str, timeout_s: float) -> Question:
    """Put the question in the store, or find it there, then on the run's log."""
    run, question_id = course.claim.run, str(uuid4())
    expires_at = course.clock.now() + timedelta(seconds=timeout_s)
    async with course.announcing:
        course.check()
        question = await course.owned(
            lambda: course.ports.questions.ask(question_id, run.id, run.attempt, number, text, default, expires_at),
            "ask a question",
        )
        event = "question_asked" if question.id == question_id else "question_found"
        note(log, event, run_id=run.id, question_id=question.id, number=number, state=str(question.state))
        data: dict[str, Json] = {"message": line(question.text), "question_id": question.id, "question": question.text}
        data |= {"default": question.default, "expires_at": question.expires_at.isoformat()}
        await course.lane.event(EventKind.QUESTION, data)
    return question


async def _settled(course: Course, question: Question) -> Question:
    """Wait until the question is not open any more.

    The store is read as often as the marks are while a model is silent: a mark that is lost costs no more than that.
    """
    run, look_every_s = course.claim.run, course.settings.look_every.total_seconds()
    while question.state is QuestionState.OPEN:
        left_s = (question.expires_at - course.clock.now()).total_seconds()
        if left_s <= 0:
            question = await _expired(course, question.id)
        else:
            await course.news(min(left_s, look_every_s))
            course.check()
            question = await _looked_at(course, question)
    if question.state is QuestionState.WITHDRAWN:
        await course.stopped()
        raise Fenced(run.id, run.attempt)
    return question


async def _expired(course: Course, question_id: str) -> Question:
    """Close a question whose time is over, and return it as it stands then: an answer may have been faster."""
    attempt = course.claim.run.attempt
    return await course.owned(lambda: course.ports.questions.expire(question_id, attempt), "close a question")


async def _looked_at(course: Course, question: Question) -> Question:
    """Return the question as it stands, or as it stood while the store is away: its deadline does not wait for that."""
    try:
        return await course.ports.questions.question(question.id) or question
    except Unavailable:
        return question


async def _told(course: Course, question: Question) -> str:
    """Say on the log what the run goes on with, and return it."""
    answered = question.state is QuestionState.ANSWERED
    text = question.default if question.answer is None else question.answer
    data: dict[str, Json] = {
        "message": line(text), "question_id": question.id, "text": text, "answered": answered,
    }  # fmt: skip
    await course.lane.event(EventKind.ANSWER, data)
    run_id, event = course.claim.run.id, "question_answered" if answered else "question_expired"
    note(log, event, run_id=run_id, question_id=question.id)
    return text
