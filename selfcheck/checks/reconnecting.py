"""Check 4: reconnect. The connection is cut in the middle of a reply, and the next one goes on where it was cut."""

from collections import Counter

from selfcheck.checks.check import Case, Check, first_wrong, show_seqs
from selfcheck.playing.stage import Broken, Stage
from selfcheck.texts import say

RULE = say("checks.reconnecting_rule")
CUT_AFTER = 6  # events that the first connection receives
HELD_AT = 12  # fragments that exist when the second one comes

CASES = [
    Case("0", 'resume_from("0")', 1),
    Case("5", 'resume_from("5")', 6),
    Case("41", 'resume_from("41")', 42),
    Case(None, say("cases.header_absent", call="resume_from(None)"), 0),
    Case("", say("cases.header_empty", call='resume_from("")'), 0),
    Case("007", 'resume_from("007")', 8),
    Case("9" * 18, say("cases.digits", call=f'resume_from("{"9" * 18}")', count="18"), 10**18),
    Case("9" * 19, say("cases.digits", call=f'resume_from("{"9" * 19}")', count="19"), 0),
    Case("9" * 5000, say("cases.digits", call='resume_from("9…9")', count="5,000"), 0),
    Case("-1", 'resume_from("-1")', 0),
    Case("+7", 'resume_from("+7")', 0),
    Case(" 7 ", 'resume_from(" 7 ")', 0),
    Case("7\n", r'resume_from("7\n")', 0),
    Case("1_000", 'resume_from("1_000")', 0),
    Case("1.5", 'resume_from("1.5")', 0),
    Case("0x10", 'resume_from("0x10")', 0),
    Case("abc", 'resume_from("abc")', 0),
    Case("²", say("cases.superscript", call='resume_from("²")'), 0),
    Case("٣", say("cases.arabic", call='resume_from("٣")'), 0),
]


def play(stage: Stage) -> None:
    """Cut a connection after six events, reconnect with the cursor, compare; then probe."""
    reconnect(stage)
    wrong = first_wrong(stage, 3, RULE, CASES)
    if wrong is not None:
        raise wrong


def reconnect(stage: Stage) -> None:
    """Play the scenario: everything received over both connections is exactly the run's log."""
    stage.gate(0)
    session = stage.new_session()
    run = stage.say(session, "My lamp arrived broken, I would like a refund.").run_id
    with stage.watch(run) as before:
        stage.gate(HELD_AT)
        before.take(CUT_AFTER)
    # What the store has when the second connection comes is part of the scenario, so it is waited for.
    stage.until_stored(run, HELD_AT - 1)
    cursor = max(before.seqs, default=0)
    with stage.watch(run, cursor) as after:
        status = stage.standing(run)["status"]
        stage.gate(None)
        after.rest()
    received = Counter([*before.seqs, *after.seqs])
    duplicates = sorted(seq for seq, count in received.items() if count > 1)
    missing = sorted(set(range(len(stage.history(session)))) - set(received))
    first_after = after.seqs[0] if after.seqs else None
    stage.evidence |= {
        "received_before": len(before.seqs),
        "last_before": cursor,
        "status_at_reconnect": status,
        "first_after": first_after,
        "duplicates": [*duplicates],
        "missing": [*missing],
    }
    given = say("checks.cut_after", count=len(before.seqs), cursor=cursor)
    if first_after != cursor + 1:
        raise Broken(RULE, given, say("checks.first_is", seq=cursor + 1), say("checks.it_is", seq=str(first_after)))
    if duplicates or missing or status != "streaming" or after.ended_with != "done":
        twice, lost = show_seqs(duplicates), show_seqs(missing)
        actual = say("checks.over_both_seen", twice=twice, missing=lost, status=str(status))
        raise Broken(RULE, given, say("checks.over_both"), actual)


CHECK = Check(4, say("checks.reconnecting"), 3, play)
