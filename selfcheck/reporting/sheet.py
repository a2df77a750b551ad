"""The sheet: the results of a run as they come, and every place where they are written down."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from selfcheck import early
from selfcheck.checks import CHECKS
from selfcheck.checks.check import Check
from selfcheck.console import out
from selfcheck.reporting import report
from selfcheck.reporting.feedback import Around, activation
from selfcheck.reporting.repeating import Repetitions
from selfcheck.results import CheckResult, Report, State, as_json, write_json
from selfcheck.trees import kit_root
from shared.foreign import shown


class Sheet:
    """The results of one run, of all its repetitions."""

    def __init__(self, options: early.Options, mode: str) -> None:
        self._options = options
        self._mode = mode
        self._repetitions = Repetitions()
        self._checks = [check for check in CHECKS if options.only in (None, check.id)]
        self._folder: Path | None = None
        self.prints: list[str] = []  # by the tree
        self.log = b""  # of the services

    def report(self) -> Report:
        """Return the report so far."""
        results, flaky = self._repetitions.worst(), self._repetitions.flaky()
        options, total = self._options, len(self._checks)
        return Report(self._mode, options.tree, options.seed, total, results, options.repeat, flaky)

    def add(self, result: CheckResult) -> None:
        """Write a result down, and then show it."""
        self.take(result)
        wrong = result.status is not State.PASSED
        report.show_line(out, result, self.around() if wrong else Around())

    def take(self, result: CheckResult) -> None:
        """Write a result down."""
        self._repetitions.add(result)
        self.write()

    def left(self) -> list[Check]:
        """Return the checks that have not been played in the repetition that was begun last."""
        begun = max((self._repetitions.played(check.id) for check in self._checks), default=0)
        done = [check for check in self._checks if self._repetitions.played(check.id) == begun > 0]
        return self._checks if len(done) == len(self._checks) else self._checks[len(done) :]

    def write(self) -> None:
        """Write the files that were asked for.

        Raises:
            Misconfigured: one cannot be written to.
        """
        if self._options.json is not None:
            write_json(Path(self._options.json), self.report())
        if self._options.junit is not None:
            from selfcheck.reporting.junit import write_junit

            names = [(check.id, check.name) for check in self._checks]
            write_junit(Path(self._options.junit), self.report(), names)

    def around(self) -> Around:
        """Return what the report needs besides the results."""
        folder = None if self._folder is None else shown(self._folder)
        return Around(self._options.real, self._passed_before, folder, activation())

    def keep(self) -> None:
        """Leave the run's folder, and remember how each check came out."""
        from selfcheck.reporting import runs

        done = self.report()
        if any(check.status is not State.PASSED for check in done.checks):
            _ = self._passed_before  # read before it is overwritten
        self._folder = runs.keep(self._tree, self._files(done))
        runs.remember(self._tree, done)

    def _files(self, done: Report) -> Iterator[tuple[str, bytes]]:
        yield "results.json", as_json(done)
        for check in done.checks:
            if check.status is not State.PASSED:
                yield f"check-{check.id}.txt", report.in_full(done, check, self.around()).encode("utf-8", "replace")
        yield "service.log", self.log

    @property
    def _tree(self) -> Path:
        return Path(early.find_tree(self._options.tree, str(kit_root())))

    @cached_property
    def _passed_before(self) -> frozenset[int]:
        from selfcheck.reporting.runs import passed_before

        return passed_before(self._tree, self._mode)
