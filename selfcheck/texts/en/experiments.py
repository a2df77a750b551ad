"""What all experiments have in common, and each of them in a line."""

from typing import Final

TEXTS: Final = {
    "list": "Each breaks one promise on purpose and shows what becomes of it, on real output:",
    "how": "selfcheck experiment NAME",
    "consumer_group": "the output stream is shared out, not broadcast",
    "seq_reset": "a rerun counts from 0 again",
    "stream_without_store": "events go to the stream and nowhere else",
    "store_without_stream": "waiters get their events from the store alone",
    "no_terminal_states": "a run may leave its end",
    "unbounded_buffer": "nobody minds how much the orderer holds",
    "unknown": "there is no experiment {name}; it is one of: {names}",
    "breaks": "What is broken",
    "predict": "What do you expect?",
    "press": "Press Enter to see it.",
    "playing": "Playing the same scenario on both …",
    "healthy": "as it is",
    "broken": "broken",
    "nothing": "(nothing)",
    "look": "What to look at",
    "why": "Why it is as it is",
    "code": "In the code",
    "held": "Held by",
    "check": "check {check}: selfcheck run --only {check}",
    "waited": "waited {seconds} s for {what}",
    "event": "an event of the run",
    "offered": "event {seq} at the orderer",
}
