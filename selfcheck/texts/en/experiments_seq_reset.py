"""The experiment `seq-reset`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "While the first reply is being written, a correction joins the run, and the reply starts again. Here"
        " that rerun is number 0 again, instead of going on behind the last number."
    ),
    "predict": (
        "The reader has 0 to 8 already. What becomes of the rerun, which now is number 0, and of the first words"
        " of the new reply? Which text is on the screen at the end?"
    ),
    "numbers": "the numbers that the worker gave out",
    "first": "the first reply: each event, and what the reader did with it",
    "second": "the rerun and the second reply",
    "here": "delivered",
    "drop": "dropped as a copy of an earlier one",
    "screen": "the text on the screen at the end",
    "store": "and for somebody who opens the page anew (from the store)",
    "look": (
        "The orderer did its duty: a number below its pointer was delivered before, so it is a copy. With the"
        " copies went the event that says that the old text is void, and the beginning of the new one. The rest"
        " was glued to the old reply. The store has no room for two rows of one number either, so the damage is"
        " permanent, and a reader with a cursor would not even ask for what is missing."
    ),
    "why": (
        "A number names one event of a run, for ever: that is what lets readers drop copies, resume at a cursor,"
        " and merge replay with live. So it is never given out twice; a rerun is one more event, with the next"
        " number, that says: what came before is void."
    ),
}
