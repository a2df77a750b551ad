"""Indexes in memory: unique ones, which constrain, and ordered ones, which answer without a scan.

Both are kept by one operation, the swap of an old row for a new one; undoing a change is swapping back.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, Protocol, TypeVar

R = TypeVar("R")
RowOf = TypeVar("RowOf", contravariant=True)

Order = tuple[object, ...]
"""What an ordered index sorts by. Each place holds values of one comparable type."""


class UniqueViolation(Exception):
    """A row would have the same key as another one in a unique index. Nothing was changed."""

    def __init__(self, index: str, key: Hashable) -> None:
        self.index = index
        self.key = key
        super().__init__(f"{index}: there is a row with the key {key!r}")


class Index(Protocol[RowOf]):
    """What a table asks of an index. Both rows None does not occur."""

    def check(self, old: RowOf | None, new: RowOf | None) -> None:
        """Return when the swap is allowed.

        Raises:
            UniqueViolation: it is not.
        """
        ...

    def swap(self, old: RowOf | None, new: RowOf | None) -> None:
        """Carry out a swap that was checked."""
        ...


class Unique(Generic[R]):
    """At most one row per key. A row whose key is None is not in the index, which makes it partial."""

    def __init__(self, name: str, key: Callable[[R], Hashable | None]) -> None:
        self.name = name
        self._key = key
        self._rows: dict[Hashable, R] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, key: Hashable) -> R | None:
        """Return the row with this key, None when there is none."""
        return self._rows.get(key)

    def check(self, old: R | None, new: R | None) -> None:
        """See `Index.check`."""
        if new is None:
            return
        key = self._key(new)
        if key is not None and key in self._rows and (old is None or self._key(old) != key):
            raise UniqueViolation(self.name, key)

    def swap(self, old: R | None, new: R | None) -> None:
        """See `Index.swap`."""
        old_key = None if old is None else self._key(old)
        if new is None:
            self._rows.pop(old_key, None)
            return
        new_key = self._key(new)
        if old_key is not None and old_key != new_key:
            del self._rows[old_key]
        if new_key is not None:
            self._rows[new_key] = new


class Ordered(Generic[R]):
    """Rows by group, sorted within it. A row whose group is None is not in the index.

    Two rows of a group must not have the same order: end it with something unique.
    """

    def __init__(self, group: Callable[[R], Hashable | None], order: Callable[[R], Order]) -> None:
        self._group = group
        self._order = order
        self._groups: dict[Hashable, tuple[list[Order], list[R]]] = {}

    def rows(self, group: Hashable, start: Order = (), limit: int | None = None) -> list[R]:
        """Return up to `limit` rows (all, when None) of a group whose order is at or after `start`."""
        orders, rows = self._groups.get(group, ([], []))
        low = bisect_left(orders, start)
        return rows[low:] if limit is None else rows[low : low + limit]

    def each(self, group: Hashable, start: Order = ()) -> Iterator[R]:
        """Yield the rows of a group from `start` on; the table must not change meanwhile."""
        orders, rows = self._groups.get(group, ([], []))
        for place in range(bisect_left(orders, start), len(rows)):
            yield rows[place]

    def first(self, group: Hashable) -> R | None:
        """Return the first row of a group, None when it is empty."""
        held = self._groups.get(group)
        return None if held is None else held[1][0]

    def last(self, group: Hashable) -> R | None:
        """Return the last row of a group, None when it is empty."""
        held = self._groups.get(group)
        return None if held is None else held[1][-1]

    def count(self, group: Hashable) -> int:
        """Return how many rows a group has."""
        held = self._groups.get(group)
        return 0 if held is None else len(held[1])

    def check(self, old: R | None, new: R | None) -> None:
        """Allow everything: order is no constraint."""

    def swap(self, old: R | None, new: R | None) -> None:
        """See `Index.swap`."""
        if old is not None and new is not None:
            group, order = self._group(old), self._order(old)
            if group is not None and group == self._group(new) and order == self._order(new):
                orders, rows = self._groups[group]
                rows[bisect_left(orders, order)] = new
                return
        if old is not None:
            self._remove(old)
        if new is not None:
            self._insert(new)

    def _insert(self, row: R) -> None:
        group = self._group(row)
        if group is None:
            return
        order = self._order(row)
        orders, rows = self._groups.setdefault(group, ([], []))
        place = len(orders) if not orders or orders[-1] < order else bisect_left(orders, order)
        orders.insert(place, order)
        rows.insert(place, row)

    def _remove(self, row: R) -> None:
        group = self._group(row)
        if group is None:
            return
        orders, rows = self._groups[group]
        place = bisect_left(orders, self._order(row))
        del orders[place], rows[place]
        if not orders:
            del self._groups[group]
