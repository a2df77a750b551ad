"""What the store does while messages are accepted."""

from collections.abc import Mapping
from dataclasses import replace

from shared.adapters.postgres import rows
from shared.adapters.postgres.database import Database, Taken
from shared.ports import Accepted, Clock, Message, StoredRun
from shared.run import Run

_ORDINAL = "runs_session_ordinal"
_MESSAGE = "inputs_session_message"


class Statements:
    """What all parts of the store have: the database, its statements by name, and the clock of recorded times."""

    def __init__(self, database: Database, statements: Mapping[str, bytes], clock: Clock) -> None:
        self.database = database
        self._statements = statements
        self._clock = clock


class Accepting(Statements):
    """The part of `Store` that accepts messages."""

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Return the session's run with the highest ordinal."""
        statement = self._statements["latest_run"]
        return await self.database.row(statement, rows.stored_run, session_id=session_id)

    async def open_run(self, run: Run, message: Message) -> Accepted:
        """Insert a pending run with its first message, unless the session has the message."""
        while True:
            try:
                answer = await self.database.row(
                    self._statements["open_run"],
                    rows.answer,
                    **run_columns(run),
                    **message_columns(message),
                )
            except Taken as taken:
                known = await self.find_message(message.session_id, message.id)
                if known is not None:
                    return known
                if taken.constraint != _ORDINAL:
                    raise
                continue  # somebody else had this ordinal first; each try means that one of them is through
            assert answer is not None, "an insert returns its row"
            return Accepted(message, answer.run_id, answer.merged, answer.status, replayed=False)

    async def join_run(self, run_id: str, message: Message) -> Accepted | None:
        """Append a message to an active run whose cancel was not asked."""
        try:
            answer = await self.database.row(
                self._statements["join_run"], rows.answer, run_id=run_id, **message_columns(message)
            )
        except Taken as taken:
            if taken.constraint != _MESSAGE:
                raise
            answer = None
        if answer is None:
            return await self.find_message(message.session_id, message.id)
        return Accepted(message, answer.run_id, answer.merged, answer.status, replayed=False)

    async def find_message(self, session_id: str, message_id: str) -> Accepted | None:
        """Return the first answer to this message."""
        first = await self.database.row(
            self._statements["find_message"], rows.accepted, session_id=session_id, message_id=message_id
        )
        return None if first is None else replace(first, replayed=True)


def run_columns(run: Run) -> dict[str, object]:
    """Return what is stored of a run when it is opened."""
    return {
        "run_id": run.id,
        "session_id": run.session_id,
        "user_id": run.user_id,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
    }


def message_columns(message: Message) -> dict[str, object]:
    """Return what is stored of a message. Its session and user are told apart from the run's."""
    return {
        "message_session_id": message.session_id,
        "message_id": message.id,
        "sender_id": message.user_id,
        "text": message.text,
        "sent_at": message.created_at,
        "trace": message.trace,
    }
