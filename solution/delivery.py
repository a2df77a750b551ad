"""Exercises 2 and 3: events in their order, and the place to go on from after a cut.

Both stand between the bus, which promises little, and a reader who sees every mistake. Neither knows what an event is:
a number is enough.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SeqOrderer(Generic[T]):
    """Hand on items in the order of their numbers, each number once, whatever order they come in.

    The pointer is the number that is due. An item below it was delivered before: drop it. An item above it came too
    early: hold it. The item that is due is delivered, and after it all that were held and now follow without a hole.

    An item is never None, but an empty text is an item too. Two copies of a number are the same item. Items have no
    order among themselves. Each orderer belongs to one connection and shares nothing with another.

    >>> delivered: list[tuple[int, str]] = []
    >>> orderer = SeqOrderer[str](0, lambda seq, text: delivered.append((seq, text)))
    >>> orderer.offer(1, "")
    >>> delivered
    []
    >>> orderer.offer(0, "hello")
    >>> orderer.offer(1, "")
    >>> delivered
    [(0, 'hello'), (1, '')]

    Without it: what overtakes on the way is shown as it comes ("I 100 can change dollars"), what is delivered again
    after a retry is shown twice, and `done` may close the page before the last words have come.
    """

    def __init__(self, start: int, emit: Callable[[int, T], None]) -> None:
        self._due = start
        self._emit = emit
        self._held: dict[int, T] = {}

    def offer(self, seq: int, item: T) -> None:
        """Take one item, and call `emit(seq, item)`, before returning, for each that is due by now, in order."""
        if seq < self._due:
            return
        self._held[seq] = item
        while self._due in self._held:
            due = self._due
            # The pointer moves first: when `emit` raises, or offers in its turn, no number goes out twice.
            self._due += 1
            self._emit(due, self._held.pop(due))


def resume_from(last_event_id: str | None) -> int:
    """Return the number of the first event that a reader who reconnects has not received.

    `last_event_id` is the header `Last-Event-ID`, as it came over the wire: the number last received, so the next one
    is that plus one. It counts only if it is 1 to 18 ASCII digits (they fit into 64 bits, and so does the next number);
    absent, empty or anything else means: from the beginning, 0. It is foreign text, and no text makes this raise.

    >>> resume_from("5")
    6
    >>> resume_from(None)
    0
    >>> resume_from("-1")
    0

    Without it: every cut of the line begins the reply again from its first word. One too few, and the word before the
    cut is there twice; one too many, and the word after it never comes.
    """
    if last_event_id is None or len(last_event_id) > 18:
        return 0
    # Neither test is enough alone: "²" is a digit that int() refuses, "٣" is one that int() takes for a 3.
    if not (last_event_id.isascii() and last_event_id.isdigit()):
        return 0
    return int(last_event_id) + 1
