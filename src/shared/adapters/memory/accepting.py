"""The memory store's part of taking messages in: opening runs and joining them."""

from shared.adapters.memory.base import StoreBase
from shared.adapters.memory.schema import InputRow, RunRow
from shared.ports import Accepted, Message, StoredRun
from shared.run import Run, RunStatus


class Accepting(StoreBase):
    """Messages and the runs they open."""

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Return the session's run with the highest ordinal."""
        tables = self._ready()
        row = tables.runs_by_session.last(session_id)
        return None if row is None else tables.stored(row)

    async def open_run(self, run: Run, message: Message) -> Accepted:
        """Insert a pending run with its first message, unless the session has the message."""
        assert run.status is RunStatus.PENDING and run.attempt == 0, "a run is opened pending"
        tables = self._ready()
        known = tables.input_by_id.find((message.session_id, message.id))
        if known is not None:
            return known.answer(replayed=True)
        serial, ordinal = next(tables.serials), tables.runs_by_session.count(run.session_id)
        with tables.journal:
            tables.runs.insert(RunRow.opened(run, serial, ordinal))
            row = InputRow(next(tables.serials), message, run.id, merged=False, status=run.status)
            tables.inputs.insert(row)
            tables.settle(run.session_id)
        return row.answer(replayed=False)

    async def join_run(self, run_id: str, message: Message) -> Accepted | None:
        """Append a message to an active run whose cancel was not asked."""
        tables = self._ready()
        known = tables.input_by_id.find((message.session_id, message.id))
        if known is not None:
            return known.answer(replayed=True)
        run = tables.run_by_id.find(run_id)
        if run is None or not run.active or run.cancel_asked:
            return None
        row = InputRow(next(tables.serials), message, run_id, merged=True, status=run.status)
        with tables.journal:
            tables.inputs.insert(row)
        return row.answer(replayed=False)

    async def find_message(self, session_id: str, message_id: str) -> Accepted | None:
        """Return the first answer to this message."""
        row = self._ready().input_by_id.find((session_id, message_id))
        return None if row is None else row.answer(replayed=True)
