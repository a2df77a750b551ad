"""The experiment `no-terminal-states`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "The table of exercise 1 allows every move, those out of done too. A run ends. Then its own worker, which"
        " had hung, wakes and writes one more fragment: it believes that the run is running, and its attempt is"
        " still the current one."
    ),
    "predict": (
        "The fence does not help: the attempt is right. What is the run's status after that? What does a waiter"
        " see that comes back? And the user's next message?"
    ),
    "moves": "what the run went through",
    "worker": "what the late worker was told",
    "written": "nothing: its fragment was written, and the run is {status}",
    "waiter": "a waiter that comes back with its cursor, as a browser does",
    "nothing_more": "204: there is nothing more, it stops",
    "again": "{times} connections and no end: {kinds} | and so on",
    "next": "the session's next message (and one of another session, after it)",
    "statuses": "{status} (the other: {other})",
    "look": (
        "The run is streaming again, and nobody is at it. Its waiter gets a word after the end, and from then"
        " on an error each time it connects: no end comes, so it comes back for ever. The session has an active"
        " run and may have no second: the next message stays pending, while one of another session, sent"
        " later, is answered."
    ),
    "why": (
        "An end must be final, or nothing that is built on it holds: waiters leave, the session takes its"
        " next run, the log is complete. The attempt says who may write, the table says what may still be"
        " written, and the write names both: it is carried out only while they still hold."
    ),
}
