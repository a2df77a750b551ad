"""Check 3: two waiters. A run is broadcast, not shared out: both have every event of it."""

from selfcheck.checks.check import Check, show_seqs
from selfcheck.stage import Broken, Stage

RULE = "A run is the unit of execution, a waiter the unit of watching: every waiter gets every event of the run."


def play(stage: Stage) -> None:
    """Attach two waiters to one run and compare what each holds with what the run has."""
    stage.gate(0)
    session = stage.new_session()
    run = stage.say(session, "My lamp arrived broken, I would like a refund.").run_id
    with stage.watch(run) as first, stage.watch(run) as second:
        stage.gate(None)
        first.rest()
        second.rest()
    events = len(stage.history(session))
    held = {"waiter A": len(set(first.seqs)), "waiter B": len(set(second.seqs))}
    stage.evidence |= {"events": events, "events_per_waiter": {**held}}
    for name, waiter in (("waiter A", first), ("waiter B", second)):
        missing = sorted(set(range(events)) - set(waiter.seqs))
        if missing or not events:
            raise Broken(
                RULE,
                f"two waiters of run-1, attached before its first event; the run has {events} events",
                f"both hold {events} of them",
                f"{name} holds {events - len(missing)}; it lacks {show_seqs(missing)}",
            )


CHECK = Check(3, "two waiters", None, play)
