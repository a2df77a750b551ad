"""The report of a run: its head, a line per check, and the details of what does not pass."""

from typing import Final

TEXTS: Final = {
    "head": "{tree}, {mode}, seed {seed}",
    "mock": "in memory",
    "real": "on real Redis and PostgreSQL",
    "score": "{passed} of {total} pass",
    "prints": "Printed by the tree (the last {count:line|{count} lines}):",
    # a check that passes, in a few words
    "transitions": "36 pairs right; the late write was {late_write}",
    "ordering": "delivered {delivered}, … in order",
    "waiting": "{events} events; the two hold {held}",
    "reconnecting": "{before} received, last {last}, then {after}, none twice or missing",
    "merging": 'merged, same run, reran from seq {seq}, has "exchange"',
    "outside": "{count} second messages, {count} runs of their own",
    # details of one that does not
    "rule": "rule",
    "given": "given",
    "expected": "expected",
    "actual": "actual",
    "blocked_by": "blocked by",
    "open": "open",
    "blocked": "blocked by {numbers:exercise&exercises} {numbers}",
    "blocker": "{numbers:exercise&exercises} {numbers}: with the solution's there, this check passes; yours is right",
    "matrix": "may a run move from (row) to (column)?",
    "yes": "yes",
    "no": "no",
    "comma": ", ",
    "and": " and ",
    "none": "none",
}
