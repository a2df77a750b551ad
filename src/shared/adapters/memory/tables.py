"""Tables in memory, and transactions that happen as a whole or not at all.

A row is an immutable value; changing one replaces it. Every change of a table is one swap (old row, new row), which
keeps the indexes and which the journal can undo by swapping back.
"""

from collections.abc import Callable, Hashable
from functools import partial
from types import TracebackType
from typing import Generic, TypeVar

from shared.adapters.memory.indexes import Index, Unique, UniqueViolation

R = TypeVar("R")


class Journal:
    """The transaction: changes of its tables inside `with journal:` are kept at its end, or undone when it raises.

    One at a time. There is nothing to lock, because nobody awaits inside one.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] | None = None

    def __enter__(self) -> None:
        assert self._undo is None, "a transaction is open already"
        self._undo = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._undo is not None
        undo, self._undo = self._undo, None
        if error is not None:
            for step in reversed(undo):
                step()

    def note(self, undo: Callable[[], None]) -> None:
        """Remember how to take back a change that was made."""
        assert self._undo is not None, "tables change inside a transaction only"
        self._undo.append(undo)


class Table(Generic[R]):
    """Rows under a primary key, with further indexes. All changes belong to a transaction of `journal`."""

    def __init__(self, journal: Journal, key: Unique[R], *indexes: Index[R]) -> None:
        self._journal = journal
        self._key = key
        self._indexes: tuple[Index[R], ...] = (key, *indexes)

    def insert(self, row: R) -> None:
        """Add a row.

        Raises:
            UniqueViolation: one of the unique indexes has its key already.
        """
        self._swap(None, row)

    def insert_new(self, row: R) -> bool:
        """Add a row unless a unique index has its key already. False: there is one, it was left as it is."""
        try:
            self._swap(None, row)
        except UniqueViolation:
            return False
        return True

    def update(self, key: Hashable, where: Callable[[R], bool], change: Callable[[R], R]) -> R | None:
        """Change the row with this key on a condition, and return it as it is then. None: no such row.

        Raises:
            UniqueViolation: the changed row's key in a unique index belongs to another row.
        """
        old = self._key.find(key)
        if old is None or not where(old):
            return None
        new = change(old)
        self._swap(old, new)
        return new

    def delete(self, row: R) -> None:
        """Remove a row that is there."""
        self._swap(row, None)

    def _swap(self, old: R | None, new: R | None) -> None:
        for index in self._indexes:
            index.check(old, new)
        for index in self._indexes:
            index.swap(old, new)
        self._journal.note(partial(self._undo, new, old))

    def _undo(self, old: R | None, new: R | None) -> None:
        for index in self._indexes:
            index.swap(old, new)
