"""Counters, gauges and histograms of one process, and their Prometheus text (exposition format 0.0.4).

Counting is one addition in a dict. A process that shows metrics makes one `Metrics` and hands it to who counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

Labels = tuple[tuple[str, str], ...]

SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600)
"""Bounds for durations: from what nobody notices to the longest attempt of a run."""


class Metrics:
    """Named numbers. Counters and histograms only grow; gauges are asked for when somebody looks."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[str, str, Callable[[], Sequence[str]]]] = {}

    def counter(self, name: str, description: str) -> "Counter":
        """Define a counter; its name ends in `_total`."""
        counter = Counter()
        self._pages[name] = ("counter", description, lambda: counter.lines(name))
        return counter

    def gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Define a gauge, read by calling `value`."""
        self._pages[name] = ("gauge", description, lambda: [f"{name} {_shown(value())}"])

    def histogram(self, name: str, description: str, bounds: Sequence[float] = SECONDS) -> "Histogram":
        """Define a histogram; its name ends in its unit. `bounds` ascend, and what is above them is counted too."""
        histogram = Histogram(bounds)
        self._pages[name] = ("histogram", description, lambda: histogram.lines(name))
        return histogram

    def text(self) -> str:
        """Return all numbers as Prometheus reads them."""
        lines: list[str] = []
        for name, (kind, description, series) in self._pages.items():
            lines += [f"# HELP {name} {description}", f"# TYPE {name} {kind}", *series()]
        return "\n".join(lines) + "\n"


class Counter:
    """One counter, with a series for each set of labels. `Metrics.counter` makes it."""

    def __init__(self) -> None:
        self._series: dict[Labels, float] = {}

    def add(self, amount: float = 1, **labels: str) -> None:
        """Count. Label values are ours (statuses, reasons), never a user's text."""
        key = tuple(sorted(labels.items()))
        self._series[key] = self._series.get(key, 0) + amount

    def lines(self, name: str) -> Sequence[str]:
        """Return a line for each series."""
        return [_line(name, labels, value) for labels, value in self._series.items()]


@dataclass(slots=True)
class _Observed:
    """One series of a histogram: how many were in each bucket alone, the last being above all bounds."""

    buckets: list[int]
    total: float = field(default=0.0)


class Histogram:
    """One histogram, with a series for each set of labels. `Metrics.histogram` makes it."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._series: dict[Labels, _Observed] = {}

    def observe(self, value: float, **labels: str) -> None:
        """Count a value in its bucket: the first whose bound is not below it. Labels are as for a counter."""
        key = tuple(sorted(labels.items()))
        if key not in self._series:
            self._series[key] = _Observed([0] * (len(self._bounds) + 1))
        observed = self._series[key]
        observed.buckets[sum(bound < value for bound in self._bounds)] += 1
        observed.total += value

    def lines(self, name: str) -> Sequence[str]:
        """Return the lines of each series: cumulative buckets, sum and count."""
        lines: list[str] = []
        for labels, observed in self._series.items():
            below = 0
            for bound, count in zip([*map(_shown, self._bounds), "+Inf"], observed.buckets, strict=True):
                below += count
                lines.append(_line(f"{name}_bucket", (*labels, ("le", bound)), below))
            lines += [_line(f"{name}_sum", labels, observed.total), _line(f"{name}_count", labels, below)]
        return lines


def _line(name: str, labels: Labels, value: float) -> str:
    series = ",".join(f'{label}="{text}"' for label, text in labels)
    return f"{name}{{{series}}} {_shown(value)}" if series else f"{name} {_shown(value)}"


def _shown(value: float) -> str:
    # All the digits that a float has for certain: a counter that is rounded stands still for a while, and then jumps.
    return "NaN" if value != value else f"{value:.15g}"
