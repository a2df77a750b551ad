"""Say so when the contract ran on fewer adapters than there are."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each reason for which tests of the contract were skipped, once."""
    skipped = [report for report in terminalreporter.getreports("skipped") if "contract" in report.nodeid]
    for reason in sorted({report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)}):
        terminalreporter.write_line(f"contract: {reason}", yellow=True)
