"""The questions of an interview that the four exercises prepare for."""

from typing import Final

TEXTS: Final = {
    "state-machine.question": (
        "A worker executes a run and streams its reply. Design the run's state machine: which states, which "
        "moves, and who makes sure that nobody makes any other?"
    ),
    "state-machine.think": (
        "Begin at the end: what must never happen? A finished run that comes to life again. Then ask who writes "
        "the status, how many of them there are, and which of them may be late."
    ),
    "state-machine.point-1": (
        "Few states, each with an owner and a meaning for the user: pending (stored, nobody has it), running "
        "(claimed), streaming (the first fragment is out), and three ends: done, failed, cancelled."
    ),
    "state-machine.point-2": (
        "Nothing leaves an end. That one line is what makes a late writer harmless and what lets a waiter, a "
        "cache or a client stop looking."
    ),
    "state-machine.point-3": (
        "The moves are one table, not if-statements spread over the code, and every write of a status asks it, "
        "without exception."
    ),
    "state-machine.point-4": (
        "The question and the write are one step: an update that is conditional on the status (and the owner) it "
        "starts from. Asking first and writing later is a race."
    ),
    "state-machine.point-5": (
        "The status and the event that says so go into one transaction; otherwise a crash in between leaves a "
        "run that is done and has no last event, or the other way round."
    ),
    "state-machine.point-6": (
        "Refused moves are logged and each move leaves an audit row: that is how one finds out, weeks later, who "
        "was late."
    ),
    "state-machine.follow-1": "Two workers believe that they own the run. Which write tells the wrong one, and when?",
    "state-machine.follow-2": (
        "Where would you put a retry: a way back to pending, or a new attempt in the same state?"
    ),
    "state-machine.follow-3": (
        "The user cancels in the very moment in which the run ends. What does each of the two get?"
    ),
    "waiters.question": (
        "Three browser tabs watch one run. Each must see every fragment, in order, none twice. How do the "
        "fragments get from the worker to the tabs?"
    ),
    "waiters.think": (
        "Take the two halves apart: reaching everybody is one problem, order is another. Then ask what each of "
        "the three has of its own, and what they can share."
    ),
    "waiters.point-1": (
        "Work is shared out, output is broadcast. A consumer group is right for the input, because one worker "
        "takes a job, and wrong for the output, because each waiter would get a part."
    ),
    "waiters.point-2": (
        "Each event carries a number: from 0, without holes, per run, given out by the one writer, and never "
        "reset, not even when the reply begins again."
    ),
    "waiters.point-3": (
        "Each connection has an orderer of its own: drop what is below the pointer, hold what is beyond a gap, "
        "and when the missing number comes, let go the whole contiguous run."
    ),
    "waiters.point-4": (
        "The buffer is bounded from outside: so many held, or so long waited, then the hole is filled from the "
        "store; if the store has not got it either, say so and close. Never jump a hole."
    ),
    "waiters.point-5": (
        "Waiters can share the read and the encoded bytes, but not their position: one read per run, so many cursors."
    ),
    "waiters.point-6": "The last event is an event like any other: it has the last number, and it may arrive first.",
    "waiters.follow-1": "A fragment is the empty text. What in your orderer would lose it?",
    "waiters.follow-2": "Ten thousand waiters, one of which does not read. Who pays?",
    "waiters.follow-3": "Why not order by the time stamp?",
    "merging.question": (
        'While the reply is being streamed the user sends: "sorry, an exchange instead". What should happen, '
        "and when should it not?"
    ),
    "merging.think": (
        "There are four answers: refuse, queue, interrupt, merge. Say what each does to the text that the user "
        "is just reading, and then which conditions make merging right."
    ),
    "merging.point-1": (
        "Merge when all three hold: the session has a run, a worker is at it, and it is young (less than 30 "
        "seconds). Otherwise the message gets a run of its own."
    ),
    "merging.point-2": (
        "Pending does not merge: nobody has begun, so there is nothing to begin again; the worker will read all "
        "messages anyway, or the next run has this one."
    ),
    "merging.point-3": (
        "The clock is the server's, injected so that a test can move it; both times have a zone; age is the "
        "whole difference, not its seconds part."
    ),
    "merging.point-4": (
        "The worker learns of it by a mark that expires, and never by the mark alone: the message is in the "
        "store first, so a lost mark costs time and no message."
    ),
    "merging.point-5": (
        "The rerun goes on with the next number. An event says that the text so far is void; whoever resumes "
        "with an old cursor therefore gets the correction, and nothing that was seen is numbered twice."
    ),
    "merging.point-6": (
        "The end of a run is conditional on its having no unread message; otherwise the one that came with the "
        "last fragment would never be answered."
    ),
    "merging.follow-1": 'The run ends between the question "may it merge?" and the write. What does the user get?',
    "merging.follow-2": (
        "The client sends the message twice, because the first answer was lost. How many runs are there?"
    ),
    "merging.follow-3": "Why should the front end know the 30 seconds, and where should it have them from?",
    "exactly-once.question": (
        "The connection breaks in the middle of a reply and the client reconnects. How does the reader get each "
        "fragment exactly once?"
    ),
    "exactly-once.think": (
        "Exactly once does not exist on the wire. Ask what is delivered at least once, who drops what is there "
        "twice, and how both agree on where they were."
    ),
    "exactly-once.point-1": (
        "The cursor is the number of the last event that was received, kept by the client. The next one is that "
        "plus one: that one addition is where most implementations are off by one."
    ),
    "exactly-once.point-2": (
        "A durable log with a unique key (run, number) is the truth; the live stream is only a copy that may vanish."
    ),
    "exactly-once.point-3": (
        "Join the live stream first, then replay from the store, then follow, all through one orderer: the "
        "overlap is dropped. Replay first and subscribe after loses what is written in between."
    ),
    "exactly-once.point-4": (
        "What comes from outside is checked: absent, empty, negative, other digits, too long: begin at 0. A "
        "cursor that is ahead of the log, or behind what is kept, is told so, never answered by silence."
    ),
    "exactly-once.point-5": (
        "The client drops what it has by (run, number). By the number alone would lose the next run, which "
        "starts at 0 again."
    ),
    "exactly-once.point-6": (
        "After the last event a reconnect is answered with 204: otherwise every finished stream is asked for "
        "again, for ever."
    ),
    "exactly-once.follow-1": (
        "The worker died, and the last fragments were on the stream but not yet in the store. What does the "
        "successor do before it writes?"
    ),
    "exactly-once.follow-2": "The old worker was only asleep and writes on. What stops it?",
    "exactly-once.follow-3": "What would you give up to have at-most-once instead, and who would want that?",
}
