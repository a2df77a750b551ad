"""The six checks: what each is called, its rule, and what it finds."""

from typing import Final

TEXTS: Final = {
    # any check
    "typed": "{says} (a {type})",
    "listed": "{before}, {next}",
    "cut": "{shown}, … ({count} in all)",
    "nothing": "nothing",
    "of": "{orderer}{seq}",
    "seqs": "seqs {seqs}",
    # 1
    "transitions": "transitions",
    "transitions_rule": (
        "A run moves pending → running → streaming → done, may leave early as failed or cancelled, and never leaves an"
        " end; every other move raises IllegalTransition."
    ),
    "returns": "returns {value}",
    "returned": "returned {value}",
    "raises_illegal": "raises IllegalTransition",
    "raised": "raised {error}",
    "late": "run-1 is done; its own worker, the attempt still current, wakes late and writes a fragment",
    "late_refused": "refused by transition and logged as illegal; status done, no event added",
    "late_seen": "{late_write}; status {status}, {added} {added:event|events} added",
    # 2
    "ordering": "ordered delivery",
    "ordering_rule": (
        "Deliver every number once and in order: drop what is below the pointer, hold what is beyond a gap, and when"
        " the missing number comes deliver the whole contiguous run."
    ),
    "bus_delivers": "the bus delivers {seqs}",
    "each_once": "{seqs}; each once, then the end",
    "first_wrong": "{seqs}; wrong from place {place} on",
    "never_came": "{seqs}; {count} too few",
    "emits": "emits {items}",
    "emitted": "emitted {items}",
    "emitted_late": "emitted {items} (the right ones, but not inside the offer that makes them due)",
    "cost_rule": "What one offer costs does not grow with how many are held.",
    "cost": "some hundredths of a second of computing",
    "cost_seen": ("a third of a second and no end: is everything that is held looked through for each offer?"),
    "emits_all": "emits all {count} in order with the last offer",
    "emitted_wrong": "emitted {count}, or not in order",
    # 3
    "waiting": "two waiters",
    "waiting_rule": (
        "A run is the unit of execution, a waiter the unit of watching: every waiter gets every event of the run."
    ),
    "two_waiters": "two waiters of run-1, attached before its first event; the run has {events} events",
    "both_hold": "both hold {events} of them",
    "holds": "{waiter} holds {held}; it lacks {missing}",
    # 4
    "reconnecting": "reconnect",
    "reconnecting_rule": (
        "Last-Event-ID is the number last received: go on with that plus one. Absent, empty, or anything but 1 to 18"
        " ASCII digits is no cursor: begin at 0."
    ),
    "cut_after": "cut after {count} events (last seq {cursor}); reconnected with Last-Event-ID: {cursor}",
    "first_is": "the first event after reconnecting is {seq}",
    "it_is": "the first event is {seq}",
    "over_both": "over both connections every event once, and the end",
    "over_both_seen": "twice: {twice}; missing: {missing}; status at reconnect: {status}",
    # 5 and 6
    "merging": "merge inside the window",
    "merging_rule": (
        "A message merges when all three hold: the session has a previous run, that run is running or streaming, and it"
        " is younger than MERGE_WINDOW (30 s, strictly)."
    ),
    "second_streaming": "a second message while run-1, 0 s old, is streaming",
    "with_correction": "run-1 with the correction merged",
    "across_rerun": "seqs 0, 1, 2, … across the rerun",
    "two_messages": 'the messages "… a refund." and "Actually, … an exchange."',
    "takes_in": "a reply that takes the exchange in",
    "rerun_line": "the worker's line about the rerun",
    "rerun_as": "reason merge, 2 messages",
    "rerun_seen": "reason {reason}, {messages} {messages:message|messages}",
    "outside": "outside the window",
    "second_old": "a second message when {run} is {age} s old and streaming",
    "second_done": "a second message when {run}, 0 s old, is done",
    "one_by_one": "the second run begins when the first has ended",
    "both_active": "both were active at once",
    "by_itself": "{run} whole and by itself",
    "run_of_its_own": "merged: False, and a run of its own",
    "same_run": "merged: {merged}, the same run",
}
