"""The memory store's part of splitting off: the sub-runs of runs."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from shared.adapters.memory.base import StoreBase
from shared.adapters.memory.schema import ForkRow, InputRow, RunRow
from shared.forks import Fork, session_of
from shared.ports import Message
from shared.run import Run, RunStatus


class Forking(StoreBase):
    """`Forks` in memory."""

    async def fork(self, parent_id: str, attempt: int, number: int, title: str, run: Run, message: Message) -> Fork:
        """Open a sub-run, or return the fork that has this run, or this number and text."""
        assert run.status is RunStatus.PENDING and run.attempt == 0, "a run is opened pending"
        assert run.session_id == message.session_id == session_of(parent_id, run.id), "a sub-run has its own session"
        tables = self._ready()
        self._unhindered(parent_id, attempt)
        known, before = tables.fork_by_run.find(run.id), tables.fork_by_number.find((parent_id, number))
        if known is None and before is not None and self._text_of(before) == message.text:
            known = before
        if known is not None:
            return tables.fork(known)
        row = ForkRow(run.id, parent_id, number, title)
        with tables.journal:
            if before is not None:
                tables.forks.update(before.run_id, lambda _: True, lambda row: replace(row, standing=False))
            tables.runs.insert(RunRow.opened(run, next(tables.serials), 0))
            tables.inputs.insert(InputRow(next(tables.serials), message, run.id, merged=False, status=run.status))
            tables.forks.insert(row)
            tables.settle(run.session_id)
        return tables.fork(row)

    async def forks_of(self, parent_id: str) -> Sequence[Fork]:
        """Return the forks that stand, by number."""
        tables = self._ready()
        return [tables.fork(row) for row in tables.forks_by_parent.rows(parent_id) if row.standing]

    async def orphans(self, limit: int) -> Sequence[str]:
        """Return sub-runs that nobody waits for and nobody has asked to stop, oldest first."""
        rows = self._ready().unended_sub_runs.each(True)
        return list(islice((row.id for row in rows if self._is_orphan(row.id)), limit))

    def _text_of(self, row: ForkRow) -> str:
        message = self._tables.inputs_by_run.first(row.run_id)
        assert message is not None, "a sub-run has a message"
        return message.message.text

    def _is_orphan(self, run_id: str) -> bool:
        fork = self._tables.fork_by_run.find(run_id)
        parent = None if fork is None else self._tables.run_by_id.find(fork.parent_id)
        return fork is not None and parent is not None and (not fork.standing or parent.ended or parent.cancel_asked)

    def _drop_forks(self, run_id: str) -> None:
        """Drop what says whose a sub-run was, once both it and its parent have ended."""
        mine, runs = self._tables.fork_by_run.find(run_id), self._tables.run_by_id
        for row in [*self._tables.forks_by_parent.rows(run_id), *([] if mine is None else [mine])]:
            if all((run := runs.find(of)) is None or run.ended for of in (row.parent_id, row.run_id)):
                self._tables.forks.delete(row)
