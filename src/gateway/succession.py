"""Succession: which run of a session comes next, read once for all sockets that want to know at the same time."""

import asyncio
from collections.abc import Sequence

from gateway.reading import KEPT_S, Turns
from shared.ports import Store, StoredRun


class Succession:
    """The runs of one session by their ordinals. Calls may overlap; each may raise `Unavailable`."""

    __slots__ = ("_all", "_everything", "_latest", "_newest", "_session_id", "_store")

    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._newest, self._everything = Turns(), Turns()
        self._latest: StoredRun | None = None
        self._all: Sequence[StoredRun] = ()

    async def run(self, ordinal: int) -> StoredRun | None:
        """Return the session's run with this ordinal, None while there is none.

        Its id and its beginning are what they are; where it stands may have changed since.
        """
        if ordinal < len(self._all):
            return self._all[ordinal]
        if self._latest is not None and self._latest.ordinal == ordinal:
            return self._latest  # a socket that comes back asks twice: whether its cursor is of a run, and for the run
        await self._newest.take(self._read_newest)
        if self._latest is None or self._latest.ordinal < ordinal:
            return None
        if self._latest.ordinal > ordinal:
            await self._everything.take(self._read_all)
            return self._all[ordinal]
        return self._latest

    async def _read_newest(self) -> None:
        self._latest = await self._store.latest_run(self._session_id)

    async def _read_all(self) -> None:
        if self._latest is not None and len(self._all) <= self._latest.ordinal:
            self._all = await self._store.runs_of(self._session_id)


class Successions:
    """The successions that are at hand, one per session."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._at_hand: dict[str, Succession] = {}

    def of(self, session_id: str) -> Succession:
        """Return the succession of a session's runs; do not keep it."""
        succession = self._at_hand.get(session_id)
        if succession is None:
            succession = self._at_hand[session_id] = Succession(self._store, session_id)
            asyncio.get_running_loop().call_later(KEPT_S, self._at_hand.pop, session_id)
        return succession
