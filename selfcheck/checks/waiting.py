"""Check 3: two waiters. A run is broadcast, not shared out: both have every event of it."""

from selfcheck.checks.check import Check, show_seqs
from selfcheck.playing.stage import Broken, Stage
from selfcheck.texts import say

RULE = say("checks.waiting_rule")


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
    for name, waiter in ((say("evidence.waiter_A"), first), (say("evidence.waiter_B"), second)):
        missing = sorted(set(range(events)) - set(waiter.seqs))
        if missing or not events:
            raise Broken(
                RULE,
                say("checks.two_waiters", events=events),
                say("checks.both_hold", events=events),
                say("checks.holds", waiter=name, held=events - len(missing), missing=show_seqs(missing)),
            )


CHECK = Check(3, say("checks.waiting"), None, play)
