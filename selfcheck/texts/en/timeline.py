"""The timeline of a check: who did what, in five lanes."""

from typing import Final

TEXTS: Final = {
    # lanes, as they stand before each line
    "client": "client",
    "gateway": "gateway",
    "bus": "bus",
    "worker": "worker",
    "store": "store",
    # steps
    "said": 'POST /chat "{text}"',
    "opened": "opens {run} and puts its session on koda:in",
    "opened_wrongly": "opens {run}: this message should have been merged",
    "merged": "merges it into {run} and sets the mark",
    "merged_wrongly": "merges it into {run}: this message should have opened a run",
    "handed_out": "koda:in hands the session of {run} to a worker",
    "moved": "{run}: {source} → {target}",
    "marked": "a write of {run} brings the rerun mark back",
    "reruns": "begins again with {messages} {messages:message|messages}, from seq {seq}",
    "watched": "waiter {waiter} watches {run} from its beginning",
    "resumed": "waiter {waiter} watches {run}, Last-Event-ID: {cursor}",
    "received": "{waiter} receives {seqs}",
    "received_wrong": "{waiter} receives {seq}; {due} was due",
    "ended": "{waiter}'s stream ends with {kind}",
    "no_end": "{waiter}'s stream ends without an end; {due} was due",
    "left": "{waiter} hangs up",
    "brought": "delivers {seqs}",
    "row": "{first} … {last}",
    "cut": "{seqs}, … ({count} in all)",
    "stands": "{run} is {status}",
    "stored": "has {run} up to seq {seq}",
    "holds": "has {count} {count:event|events} of the session",
    "goes_on": "the model may go on to the end",
    "holds_at": "the model may say {count} {count:fragment|fragments}, then waits",
    "advanced": "its clock moves on by {seconds} s",
    "shuffles": "shuffles and re-delivers from here on, seed {seed}",
    "wakes_late": "{run}'s own worker wakes late and writes",
    "write_refused": "the late write is refused",
    "write_taken": "the late write is carried out; it should have been refused",
    "probed": "exercise {exercise} is asked a table of {count}",
    "told": "{given}: {actual}",
}
