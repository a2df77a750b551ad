"""The experiment `unbounded-buffer`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "On both sides the bus loses event 3 on the way to the waiter, for good. The guard that stands outside"
        " the orderer (64 held, or 2 s) is switched off in one of them. 2000 fragments are written."
    ),
    "predict": (
        "An orderer must not jump a hole. So what does it do with number 4, and with number 1999? What is on the"
        " screen?"
    ),
    "held": "held by the orderer / written",
    "peak": "held at the most",
    "most": "{held} events; measured above: up to {kib} KiB",
    "waiter": "what the waiter has received",
    "received": "{received} of {written}",
    "look": (
        "Without a guard, what is held grows with what is written, for each waiter anew, and the waiter sees"
        " nothing at all: the worst of both. With it, the hole is filled from the store as soon as too much waits"
        " behind it, and everything held goes out at once."
    ),
    "why": (
        "The orderer stays simple: it holds what it is given for as long as it takes. How much and how long that"
        " may be is the gateway's decision, so the guard is its own, and does not ask the orderer. If the store"
        " has not got the event either, the connection ends with an error: never silence, never a jump."
    ),
}
