"""The experiment `store-without-stream`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "There is no stream. The worker writes to the store in batches (32 rows or 200 ms), and the gateway asks"
        " the store five times a second whether there is something new. The model says a word each 20 ms."
    ),
    "predict": (
        "How long until the first word is on the screen, compared with the normal way? And how do the words come"
        " after that?"
    ),
    "first": "time to the first token (median of {turns}): {ratio} times as long",
    "pause": "longest pause between two tokens (median of {turns}): {ratio} times as long",
    "typical": "median of all pauses: {ms} ms",
    "line": "one reply on a time line: when something came",
    "slot": "a word or more; a column is {ms} ms",
    "look": (
        "Nothing is lost and nothing is out of order; the text is merely late, and comes in gulps. Each event"
        " waits for its batch and then for the next question. To ask more often helps little while the batch is"
        " what it is, and every waiter's question costs the database something, also when the answer is no."
    ),
    "why": (
        "What is written often should be written in batches, and what is waited for should be pushed. One place"
        " cannot do both well. So there are two ways: the stream wakes whoever waits within a millisecond, and"
        " the store gets many rows in one statement. Losing the stream costs time and no text, as can be seen"
        " here."
    ),
}
