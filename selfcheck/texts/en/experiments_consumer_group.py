"""The experiment `consumer-group`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "Two gateways follow one run, a waiter on each. The bus hands the output stream to them as one consumer"
        " group: each entry goes to one of the two, as XREADGROUP would do it. (Here the guard fills a hole from"
        " the store after 1 s.)"
    ),
    "predict": (
        "What does each of the two people see while the reply is being written? And what after a second, when the"
        " guard outside the orderer loses its patience?"
    ),
    "given": "what the bus gave gateway {name}, event by event",
    "count": "{given} of {events}",
    "screen": "what waiter {name} had on the screen in time, and later",
    "last": "the last event was on both screens",
    "after": "after {seconds} s",
    "here": "came",
    "late": "too late: fetched from the store",
    "absent": "never",
    "look": (
        "The lanes complete each other: what one gateway was given, the other lacks. The orderers do what they"
        " should and hold everything behind the first hole, so both screens stand still. What saves the reply in"
        " the end is the guard, meant for a rare loss, which has become the only delivery: everybody waits for it"
        " every time."
    ),
    "why": (
        "A run is executed once and watched by n. So the input stream has a consumer group (a run for one"
        " worker), and the output stream has none: every reader holds a position of its own and reads all of it,"
        " with XREAD. A tab more costs nobody else an event."
    ),
}
