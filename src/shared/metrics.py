"""Counters and gauges of one process, and their Prometheus text (exposition format 0.0.4).

Counting is one addition in a dict. A process that shows metrics makes one `Metrics` and hands it to who counts.
"""

from collections.abc import Callable


class Metrics:
    """Named numbers. Counters only grow; gauges are asked for when somebody looks."""

    def __init__(self) -> None:
        self._help: dict[str, tuple[str, str]] = {}
        self._counts: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
        self._gauges: dict[str, Callable[[], float]] = {}

    def counter(self, name: str, description: str) -> "Counter":
        """Define a counter; its name ends in `_total`."""
        self._help[name] = ("counter", description)
        return Counter(self._counts.setdefault(name, {}))

    def gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Define a gauge, read by calling `value`."""
        self._help[name] = ("gauge", description)
        self._gauges[name] = value

    def text(self) -> str:
        """Return all numbers as Prometheus reads them."""
        lines: list[str] = []
        for name, (kind, description) in self._help.items():
            lines += [f"# HELP {name} {description}", f"# TYPE {name} {kind}"]
            if kind == "gauge":
                lines.append(f"{name} {_shown(self._gauges[name]())}")
            for labels, value in self._counts.get(name, {}).items():
                series = ",".join(f'{label}="{text}"' for label, text in labels)
                lines.append(f"{name}{{{series}}} {_shown(value)}" if series else f"{name} {_shown(value)}")
        return "\n".join(lines) + "\n"


class Counter:
    """One counter, with a series for each set of labels."""

    def __init__(self, series: dict[tuple[tuple[str, str], ...], float]) -> None:
        self._series = series

    def add(self, amount: float = 1, **labels: str) -> None:
        """Count. Label values are ours (statuses, reasons), never a user's text."""
        key = tuple(sorted(labels.items()))
        self._series[key] = self._series.get(key, 0) + amount


def _shown(value: float) -> str:
    # All the digits that a float has for certain: a counter that is rounded stands still for a while, and then jumps.
    return f"{value:.15g}"
