"""Hearing: what a client sends on its session's line, taken one frame at a time, and what it is told in reply.

A frame that makes no sense to us is told with the field's name, and the line goes on: it may be of a later version.
What is no frame at all ends the line.
"""

from typing import Final

from starlette.types import Message

from gateway import captions, envelopes
from gateway.answers import Answers
from gateway.intake import check_answer, check_id, parse_object
from gateway.line import Line
from shared.envelope import CloseCode
from shared.errors import InvalidField, QuestionClosed, Unavailable, UnknownQuestion
from shared.events import Json
from shared.logs import logger
from shared.settings import Settings

log = logger("gateway")

KNOWN: Final = ("answer", "ping", "pong")


class Hearing:
    """Takes the frames of one client."""

    __slots__ = ("_answers", "_line", "_session_id", "_settings")

    def __init__(self, session_id: str, line: Line, answers: Answers, settings: Settings) -> None:
        self._session_id = session_id
        self._line = line
        self._answers = answers
        self._settings = settings

    async def take(self, message: Message) -> None:
        """Take one frame, and return when the next may come. Does not raise."""
        line = self._line
        line.heard()
        text: str | None = message.get("text")
        if text is None:
            line.close(CloseCode.BINARY, "frame: is binary; expected a text")
            return
        try:
            await self._take(text)
        except Exception:
            log.exception("frame_crashed", extra={"fields": {"session_id": self._session_id}})
            line.close(CloseCode.FAULT, "internal: a fault of ours; it has been logged; reconnect")
        await line.room()

    async def _take(self, text: str) -> None:
        try:
            fields = parse_object(text.encode())
        except ValueError as wrong:
            self._line.close(CloseCode.BAD_REQUEST, f"frame: is {wrong}")
            return
        try:
            await self._obey(fields)
        except InvalidField as wrong:
            self._line.say(envelopes.error("invalid_field", str(wrong), field=wrong.field, **_named(fields)))

    async def _obey(self, fields: dict[str, Json]) -> None:
        match fields.get("type"):
            case "ping":
                self._line.say(envelopes.pong())
            case "pong":
                pass
            case "answer":
                await self._answer(fields)
            case _:
                problem = f"is not one of {', '.join(KNOWN)}" if "type" in fields else "is missing"
                raise InvalidField("type", problem)

    async def _answer(self, fields: dict[str, Json]) -> None:
        """Store an answer and say what became of it."""
        say, answer = self._line.say, check_answer(fields, self._settings)
        question_id = answer.question_id
        try:
            await self._answers.in_session(self._session_id, answer)
        except UnknownQuestion as unknown:
            say(envelopes.error("unknown_question", str(unknown), field="question_id", question_id=question_id))
        except QuestionClosed as closed:
            if closed.answer is None:
                say(envelopes.error("question_closed", str(closed), field="question_id", question_id=question_id))
            else:
                say(envelopes.answered(question_id, False, closed.answer, str(closed)))
        except Unavailable as away:
            problem = f"the {away.service} is away; send it again"
            say(envelopes.error("unavailable", problem, question_id=question_id))
        else:
            say(envelopes.answered(question_id, True, answer.text, captions.COUNTED))


def _named(fields: dict[str, Json]) -> dict[str, str]:
    """Return which question a frame is about, if it says so in a way that can be said back."""
    try:
        return {"question_id": check_id("question_id", fields.get("question_id"))}
    except InvalidField:
        return {}
