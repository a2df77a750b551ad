"""What the store does about sub-runs."""

from collections.abc import Sequence

from shared.adapters.postgres import rows
from shared.adapters.postgres.accepting import Statements, message_columns, run_columns
from shared.adapters.postgres.database import Taken
from shared.errors import Fenced
from shared.forks import Fork, session_of
from shared.ports import Message
from shared.run import Run

_NUMBER = "forks_parent_number"


class Forking(Statements):
    """`Forks` on PostgreSQL."""

    async def fork(self, parent_id: str, attempt: int, number: int, title: str, run: Run, message: Message) -> Fork:
        """Open a sub-run, or return the fork that has this run, or this number and text."""
        assert run.session_id == message.session_id == session_of(parent_id, run.id), "a sub-run has its own session"
        while True:
            try:
                forked = await self.database.row(
                    self._statements["fork"],
                    rows.text,
                    parent_id=parent_id,
                    attempt=attempt,
                    number=number,
                    title=title,
                    **run_columns(run),
                    **message_columns(message),
                )
            except Taken as taken:
                known = await self.database.row(self._statements["fork_of"], rows.fork, run_id=run.id)
                if known is None and taken.constraint != _NUMBER:
                    raise  # the id is that of a run which is no sub-run
                continue  # another call was faster, and by now its fork is seen
            if forked is None:
                raise Fenced(parent_id, attempt)
            fork = await self.database.row(self._statements["fork_of"], rows.fork, run_id=forked)
            if fork is not None:  # else both runs have ended and were archived: the next try says so
                return fork

    async def forks_of(self, parent_id: str) -> Sequence[Fork]:
        """Return the forks that stand, by number."""
        return await self.database.rows(self._statements["forks_of"], rows.fork, parent_id=parent_id)

    async def orphans(self, limit: int) -> Sequence[str]:
        """Return sub-runs that nobody waits for and nobody has asked to stop, oldest first."""
        return await self.database.rows(self._statements["orphans"], rows.text, limit=limit)
