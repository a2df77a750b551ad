"""Tables in memory: indexes, conditional updates, and transactions that leave nothing behind."""

import copy
from dataclasses import dataclass, replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.memory.indexes import Ordered, Unique, UniqueViolation
from shared.adapters.memory.tables import Journal, Table
from tests.support.calm import calm


@dataclass(frozen=True)
class Row:
    """A row with a key, something unique that it may lack, and a place in a group."""

    key: int
    name: str | None = None
    group: str | None = "g"
    place: int = 0


class Shelf:
    """A table of rows with one index of each kind."""

    def __init__(self, *rows: Row) -> None:
        self.journal = Journal()
        self.by_key: Unique[Row] = Unique("key", lambda row: row.key)
        self.by_name: Unique[Row] = Unique("name", lambda row: row.name)
        self.by_group: Ordered[Row] = Ordered(lambda row: row.group, lambda row: (row.place, row.key))
        self.rows: Table[Row] = Table(self.journal, self.by_key, self.by_name, self.by_group)
        with self.journal:
            for row in rows:
                self.rows.insert(row)

    def everything(self) -> object:
        """Return all that the indexes hold, whatever it is, to be compared later."""
        return copy.deepcopy([vars(index)[name] for index, name in self._parts()])

    def _parts(self) -> list[tuple[object, str]]:
        return [(self.by_key, "_rows"), (self.by_name, "_rows"), (self.by_group, "_groups")]


def test_a_row_is_found_by_its_keys() -> None:
    """Every unique index finds the row; None finds none, for a row without the key is not in the index."""
    shelf = Shelf(one := Row(1, "a"), two := Row(2))
    assert [shelf.by_key.find(key) for key in [1, 2, 3]] == [one, two, None]
    assert [shelf.by_name.find(name) for name in ["a", "b", None]] == [one, None, None]
    assert (len(shelf.by_key), len(shelf.by_name)) == (2, 1)


def test_a_second_row_with_a_unique_key_is_refused() -> None:
    """The violation names index and key, whichever index it is, and no index has the row."""
    shelf = Shelf(Row(1, "a"))
    before = shelf.everything()
    for row, index, key in [(Row(1, "b"), "key", 1), (Row(2, "a"), "name", "a")]:
        with pytest.raises(UniqueViolation) as violation, shelf.journal:
            shelf.rows.insert(row)
        assert (violation.value.index, violation.value.key) == (index, key)
        assert shelf.everything() == before


def test_a_partial_index_constrains_only_its_rows() -> None:
    """Any number of rows may lack the key; one that gets it later is held against the others."""
    shelf = Shelf(Row(1, "a"), Row(2), Row(3))
    with pytest.raises(UniqueViolation), shelf.journal:
        shelf.rows.update(2, lambda _: True, lambda row: replace(row, name="a"))
    with shelf.journal:
        shelf.rows.update(1, lambda _: True, lambda row: replace(row, name=None))
        shelf.rows.update(2, lambda _: True, lambda row: replace(row, name="a"))
    assert shelf.by_name.find("a") == Row(2, "a")


def test_inserting_what_may_be_there_says_whether_it_was() -> None:
    """A row whose key is taken is left out, the one that is there stays as it is."""
    shelf = Shelf(Row(1, "a"))
    with shelf.journal:
        assert not shelf.rows.insert_new(Row(1, "other"))
        assert shelf.rows.insert_new(Row(2, "b"))
    assert (shelf.by_key.find(1), shelf.by_key.find(2)) == (Row(1, "a"), Row(2, "b"))


def test_an_update_says_whether_it_hit() -> None:
    """A hit returns the row as it is now; an unknown key and an unmet condition return None and change nothing."""
    shelf = Shelf(Row(1, "a"))
    with shelf.journal:
        assert shelf.rows.update(1, lambda row: row.name == "a", lambda row: replace(row, name="b")) == Row(1, "b")
        assert shelf.rows.update(1, lambda row: row.name == "a", lambda row: replace(row, name="c")) is None
        assert shelf.rows.update(9, lambda _: True, lambda row: row) is None
    assert (shelf.by_name.find("a"), shelf.by_name.find("b")) == (None, Row(1, "b"))


def test_a_group_is_sorted() -> None:
    """Rows are read in their order, from any place, up to any number; a row without a group is in none."""
    shelf = Shelf(*(Row(key, group="g" if key else None, place=-key) for key in [2, 0, 3, 1, 4]))
    order = [Row(key, place=-key) for key in [4, 3, 2, 1]]
    assert list(shelf.by_group.rows("g")) == order
    assert list(shelf.by_group.rows("g", (-3,), 2)) == order[1:3]
    assert list(shelf.by_group.each("g", (-2,))) == order[2:]
    assert (shelf.by_group.first("g"), shelf.by_group.last("g"), shelf.by_group.count("g")) == (order[0], order[3], 4)


def test_a_group_that_nobody_is_in_is_empty() -> None:
    """An unknown group has no rows, no first and no last, and one that was left is unknown again."""
    shelf = Shelf(row := Row(1))
    with shelf.journal:
        shelf.rows.delete(row)
    for group in ["g", "unknown"]:
        assert (list(shelf.by_group.rows(group)), list(shelf.by_group.each(group))) == ([], [])
        assert (shelf.by_group.first(group), shelf.by_group.last(group), shelf.by_group.count(group)) == (None, None, 0)
    assert shelf.everything() == Shelf().everything()


def _become(new: Row, _: Row) -> Row:
    return new


def test_a_changed_row_changes_its_place() -> None:
    """An update moves a row within its group, to another one, out of all, and replaces it where it stands."""
    shelf = Shelf(Row(1, place=1), Row(2, place=2))
    steps = [
        (Row(1, place=3), [2, 1], []),
        (Row(1, "n", place=3), [2, 1], []),
        (Row(1, "n", "h", 3), [2], [1]),
        (Row(1, "n", None, 3), [2], []),
        (Row(1, "n", "g", 0), [1, 2], []),
    ]
    for changed, in_g, in_h in steps:
        with shelf.journal:
            shelf.rows.update(1, lambda _: True, partial(_become, changed))
        assert [row.key for row in shelf.by_group.rows("g")] == in_g
        assert [row.key for row in shelf.by_group.rows("h")] == in_h
        assert shelf.by_key.find(1) == changed


def test_a_transaction_that_raises_leaves_nothing_behind() -> None:
    """Inserts, updates and deletes before the exception are taken back, and the next transaction is not disturbed."""
    shelf = Shelf(one := Row(1, "a", place=1), Row(2, "b", place=2))
    before = shelf.everything()
    with pytest.raises(ZeroDivisionError), shelf.journal:
        shelf.rows.insert(Row(3, "c"))
        shelf.rows.delete(one)
        shelf.rows.insert(Row(1, "d", "h"))
        shelf.rows.update(2, lambda _: True, lambda row: replace(row, name="a", group=None))
        raise ZeroDivisionError
    assert shelf.everything() == before
    with shelf.journal:
        shelf.rows.insert(Row(3, "c"))
    assert shelf.by_key.find(3) == Row(3, "c")


def test_a_violation_in_the_middle_takes_back_what_went_before() -> None:
    """A refused row undoes the whole transaction, unless it is caught inside: then only the row is refused."""
    shelf = Shelf(Row(1, "a"))
    before = shelf.everything()
    with pytest.raises(UniqueViolation), shelf.journal:
        shelf.rows.insert(Row(2, "b"))
        shelf.rows.insert(Row(3, "a"))
    assert shelf.everything() == before


def test_changes_belong_to_a_transaction() -> None:
    """A change outside of one, and a transaction inside another, are mistakes that show at once."""
    shelf = Shelf()
    with pytest.raises(AssertionError, match="inside a transaction only"):
        shelf.rows.insert(Row(1))
    with shelf.journal, pytest.raises(AssertionError, match="open already"), shelf.journal:
        pass


changes = st.lists(
    st.tuples(
        st.sampled_from(["insert", "update", "delete"]),
        st.builds(
            Row,
            st.integers(0, 4),
            st.sampled_from([None, "a", "b"]),
            st.sampled_from([None, "g", "h"]),
            st.integers(0, 2),
        ),
    ),
    max_size=12,
)


def apply(shelf: Shelf, change: str, row: Row) -> None:
    """Carry out one change, if the constraints allow it."""
    try:
        if change == "insert":
            shelf.rows.insert(row)
        elif change == "update":
            shelf.rows.update(row.key, lambda _: True, lambda _: row)
        elif (there := shelf.by_key.find(row.key)) is not None:
            shelf.rows.delete(there)
    except UniqueViolation:
        pass


@settings(calm, derandomize=True, database=None)
@given(kept=changes, undone=changes)
def test_any_transaction_can_be_taken_back(kept: list[tuple[str, Row]], undone: list[tuple[str, Row]]) -> None:
    """Whatever was changed, undoing leaves the indexes exactly as they were, and as new ones of the same rows are."""
    shelf = Shelf()
    with shelf.journal:
        for change, row in kept:
            apply(shelf, change, row)
    before = shelf.everything()
    with pytest.raises(ZeroDivisionError), shelf.journal:
        for change, row in undone:
            apply(shelf, change, row)
        raise ZeroDivisionError
    assert shelf.everything() == before
    rows = [found for key in range(5) if (found := shelf.by_key.find(key)) is not None]
    assert shelf.everything() == Shelf(*rows).everything()
