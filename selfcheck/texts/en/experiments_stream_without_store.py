"""The experiment `stream-without-store`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "The worker sends its events to the stream and to nowhere else. A reader has 6 of them when its line is"
        " cut. Then the stream is gone, as it is when its time is over, or when the bus was restarted empty, and"
        " the reader comes back with its cursor."
    ),
    "predict": (
        "What can the gateway still give to the reader? And what does somebody see who opens the conversation tomorrow?"
    ),
    "lane": "the events of the run, as the reader got them",
    "before": "before the cut",
    "after": "after it",
    "lost": "lost",
    "wire": "what the second connection brought",
    "went_on": "{first} to {last}, and {kind}",
    "reopened": "the reply in the conversation, opened anew",
    "look": (
        "What was written before the loss is nowhere any more. What is written after it does arrive at the"
        " gateway, but behind a hole that nothing can fill, so it is not shown: a gap, then an error, never a"
        " text with a hole that nobody notices. The conversation is empty for good, although the run says done."
    ),
    "why": (
        "A stream is fast and forgets; it is a copy. The store is slow and remembers; it is the truth. Each event"
        " goes both ways, at once to the stream, and a moment later in batches to the store, and whoever connects"
        " is given what the store has first and the stream's overlap after it."
    ),
}
