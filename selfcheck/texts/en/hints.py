"""The hints: EXERCISE-LEVEL. A line that begins with spaces is pseudo-code."""

from typing import Final

TEXTS: Final = {
    "1-1": "Look at nothing but the diagram under TRANSITIONS. For each of the six statuses: which arrows leave it? "
    "Which three statuses does none leave?",
    "1-2": "The shape: a row for each of the six statuses, and in it the set of those that a run may move to. An end "
    "has a row, too, and nothing in it. The function is finished; it only looks things up.\n"
    "\n"
    "Where people fall: `failed` and `cancelled` are ways out of every status that is no end, so out of pending as "
    "well. A running run may be done without ever having streamed. And no row lists its own status.",
    "1-3": "    pending    → running, or one of the two early ends\n"
    "    running    → streaming, done, or one of the two early ends\n"
    "    streaming  → done, or one of the two early ends\n"
    "    each end   → nothing\n"
    "\n"
    "A row in Python, with blanks to fill in:\n"
    "\n"
    "    RunStatus.PENDING: frozenset({{RunStatus.…, RunStatus.…, RunStatus.…}}),",
    "2-1": "At any moment exactly one number may go out next. Which one is it at the beginning, and which after a "
    "delivery? Compared with it, a number that comes can stand in three ways: what do you do in each?",
    "2-2": "The shape: a pointer to the number that is due, and a place where things wait by their number. What is "
    "below the pointer is dropped. Anything else goes to where things wait; then, for as long as the due one is "
    "there, it is taken out and delivered, and the pointer moves on.\n"
    "\n"
    "Where people fall: one arrival may set many free, so one look is not enough. An empty text is a fragment: ask "
    "whether it is there, not whether it is true. And the place belongs to one orderer: make it in `__init__`.",
    "2-3": "    __init__(start, emit):\n"
    "        the due one is start; nothing waits (an empty dict)\n"
    "\n"
    "    offer(seq, item):\n"
    "        seq is below the due one: it was delivered, leave\n"
    "        let item wait under seq\n"
    "        while the due number is among those that wait:\n"
    "            take its item out of there\n"
    "            the number after it is due from now on\n"
    "            emit the number and its item\n"
    "\n"
    "Each number goes in once and out once: no recursion, no search, no sorting.",
    "3-1": "The header is the number of the last event that the reader has. Which is the first that it does not have? "
    "And which is the first for a reader who has none at all?",
    "3-2": "The shape: first decide whether the text is a cursor; only then make a number of it. Whatever is no "
    "cursor, absent and empty included, begins at 0.\n"
    "\n"
    'Where people fall: int() takes blanks, signs, underscores and the digits of every script. isdigit() takes "²", '
    "which int() does not. Five thousand digits are digits, too. Who decides before converting has nothing to catch.",
    "3-3": "    there is no header, or it is longer than 18 characters: 0\n"
    "    some character is not ASCII: 0\n"
    "    it is not made of digits alone, one at least: 0\n"
    "    else: the number that it says, and one more\n"
    "\n"
    "A string has a method for the second line and one for the third. Each alone lets something through; together they "
    "leave 0 to 9.",
    "4-1": "When is it still worth while to put a message into a run that is there already? Say it of the run, in "
    "three short sentences: that it …, that it …, that it …",
    "4-2": "The shape: three conditions, and all of them must hold. Their order matters: what is None has no status. "
    "So first whether there is a run, then what its status is, then how old it is.\n"
    "\n"
    "Where people fall: a pending run is not at work yet, an ended one no longer. An age is a duration: compare it as "
    "a whole, for `.seconds` is only a part of it. And younger is younger: at exactly 30 s it is too late.",
    "4-3": "    there is a previous run\n"
    "    and its status is one of the two in which a worker is at it\n"
    "    and now, less the moment it was created, is below MERGE_WINDOW\n"
    "\n"
    "Mind what `and` returns: `previous and …` may come out as None, `previous is not None and …` never does.",
}
