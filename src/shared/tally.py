"""The log, counted: each line is a past fact, and the facts that somebody wants to see as numbers are counted here.

So who says a fact need not count it as well, and log and metrics never disagree. Both processes use it; each counts
what happens in it.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from shared.events import Json
from shared.logs import ROOT
from shared.metrics import Metrics
from shared.run import ENDED, RunStatus

_HELD: Final = (0, 1, 4, 16, 64, 256)


class Tally(logging.Handler):
    """Counts lines as they are written. A line it does not know, or without the fields it counts by, costs a look."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__()
        self._ended = metrics.counter("koda_runs_ended_total", "Runs that ended, by status.")
        self._illegal = metrics.counter("koda_illegal_transitions_total", "Moves of runs that the table refused.")
        self._first_token = metrics.histogram(
            "koda_first_token_seconds", "From a run's opening to its first fragment or tool call."
        )
        self._in_status = metrics.histogram(
            "koda_status_seconds",
            "How long runs were in a status that they left, since their last claim if they had one.",
        )
        self._retries = metrics.counter("koda_retries_total", "Runs given back because their model failed.")
        self._takeovers = metrics.counter("koda_takeovers_total", "Runs claimed again, by what they go on from.")
        self._reruns = metrics.counter("koda_reruns_total", "Replies that were started again, by reason.")
        self._tokens = metrics.counter("koda_tokens_total", "Tokens that complete replies cost, voided ones included.")
        self._questions = metrics.counter("koda_questions_total", "Questions of runs, by what became of them.")
        self._forks = metrics.counter("koda_forks_total", "Sub-runs that were split off.")
        self._subtasks = metrics.counter("koda_subtasks_total", "Sub-runs that their parent went on with, by outcome.")
        self._unreported = metrics.counter("koda_reports_dropped_total", "Reports of runs that nobody could take.")
        self._backfills = metrics.counter(
            "koda_backfills_total", "Holes in a stream that were looked for in the store."
        )
        self._held = metrics.histogram("koda_held_events", "Events that waited behind a hole at a backfill.", _HELD)

    def emit(self, record: logging.LogRecord) -> None:
        """Count one line."""
        fields: Mapping[str, Json] = getattr(record, "fields", {})
        match record.getMessage():
            case "run_moved":
                self._moved(fields)
            case "illegal_transition":
                self._illegal.add()
            case "run_given_back" if fields.get("why") == "retry":
                self._retries.add()
            case "run_taken_over":
                self._takeovers.add(why=str(fields.get("why")))
            case "run_rerun":
                self._reruns.add(reason=str(fields.get("reason")))
            case "reply_complete":
                self._spent(fields.get("usage"))
            case "question_asked" | "question_answered" | "question_expired" | "question_refused" as event:
                self._questions.add(outcome=event.removeprefix("question_"))
            case "run_forked":
                self._forks.add()
            case "subtask_ended":
                self._subtasks.add(outcome="done" if fields.get("ok") else "failed")
            case "report_dropped":
                self._unreported.add()
            case "backfilled":
                self._backfills.add()
                self._held.observe(_number(fields, "held"))

    def _spent(self, usage: Json) -> None:
        if isinstance(usage, dict) and usage:  # a model need not say
            self._tokens.add(_number(usage, "input_tokens"), direction="input")
            self._tokens.add(_number(usage, "output_tokens"), direction="output")

    def _moved(self, fields: Mapping[str, Json]) -> None:
        target = fields.get("target")
        self._in_status.observe(_number(fields, "spent_s"), status=str(fields.get("source")))
        if target == RunStatus.STREAMING:
            self._first_token.observe(_number(fields, "age_s"))
        if target in ENDED:
            self._ended.add(status=str(target))


@contextmanager
def tallied(metrics: Metrics) -> Iterator[None]:
    """Count what this process's log says while the block lasts."""
    tally, root = Tally(metrics), logging.getLogger(ROOT)
    root.addHandler(tally)
    try:
        yield
    finally:
        root.removeHandler(tally)


def _number(fields: Mapping[str, Json], name: str) -> float:
    value = fields.get(name)
    return value if isinstance(value, int | float) else 0
