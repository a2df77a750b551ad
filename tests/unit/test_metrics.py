"""Counters and gauges as Prometheus reads them."""

import math

from shared.metrics import Metrics


def test_nothing_defined_is_an_empty_page() -> None:
    """A process that counts nothing shows nothing but a line's end."""
    assert Metrics().text() == "\n"


def test_numbers_are_shown_in_the_order_of_definition() -> None:
    """Each metric has its help and type, then a line for each series, labels in the order of their names."""
    metrics = Metrics()
    ended = metrics.counter("koda_runs_ended_total", "Runs that ended, by status.")
    metrics.gauge("koda_streams_open", "Streams open now.", lambda: 3)
    bare = metrics.counter("koda_messages_total", "Messages accepted.")
    ended.add(status="done", how="here")
    ended.add(2, how="here", status="done")
    ended.add(status="failed", how="there")
    bare.add(0.5)
    assert metrics.text() == (
        "# HELP koda_runs_ended_total Runs that ended, by status.\n"
        "# TYPE koda_runs_ended_total counter\n"
        'koda_runs_ended_total{how="here",status="done"} 3\n'
        'koda_runs_ended_total{how="there",status="failed"} 1\n'
        "# HELP koda_streams_open Streams open now.\n"
        "# TYPE koda_streams_open gauge\n"
        "koda_streams_open 3\n"
        "# HELP koda_messages_total Messages accepted.\n"
        "# TYPE koda_messages_total counter\n"
        "koda_messages_total 0.5\n"
    )


def test_a_counter_that_never_counted_is_announced() -> None:
    """A counter is known to who reads before its first series exists."""
    metrics = Metrics()
    metrics.counter("koda_x_total", "X.")
    assert metrics.text() == "# HELP koda_x_total X.\n# TYPE koda_x_total counter\n"


def test_a_gauge_is_asked_at_each_look() -> None:
    """A gauge keeps nothing: it shows what is so when somebody looks."""
    open_streams: list[str] = []
    metrics = Metrics()
    metrics.gauge("koda_x", "X.", lambda: len(open_streams))
    assert metrics.text().endswith("\nkoda_x 0\n")
    open_streams.append("a")
    assert metrics.text().endswith("\nkoda_x 1\n")


def test_a_gauge_that_knows_nothing_says_so() -> None:
    """In the words of the format: nobody takes it for a zero."""
    metrics = Metrics()
    metrics.gauge("koda_x", "X.", lambda: math.nan)
    assert metrics.text().endswith("\nkoda_x NaN\n")


def test_a_histogram_counts_what_is_not_above_each_bound() -> None:
    """Buckets are cumulative and their bounds belong to them; each set of labels is a series with sum and count."""
    metrics = Metrics()
    histogram = metrics.histogram("koda_x_seconds", "X.", (0.5, 1))
    for value in (0.5, 0.75, 1, 7):
        histogram.observe(value, how="a")
    histogram.observe(0.25, how="b")
    assert metrics.text() == (
        "# HELP koda_x_seconds X.\n"
        "# TYPE koda_x_seconds histogram\n"
        'koda_x_seconds_bucket{how="a",le="0.5"} 1\n'
        'koda_x_seconds_bucket{how="a",le="1"} 3\n'
        'koda_x_seconds_bucket{how="a",le="+Inf"} 4\n'
        'koda_x_seconds_sum{how="a"} 9.25\n'
        'koda_x_seconds_count{how="a"} 4\n'
        'koda_x_seconds_bucket{how="b",le="0.5"} 1\n'
        'koda_x_seconds_bucket{how="b",le="1"} 1\n'
        'koda_x_seconds_bucket{how="b",le="+Inf"} 1\n'
        'koda_x_seconds_sum{how="b"} 0.25\n'
        'koda_x_seconds_count{how="b"} 1\n'
    )


def test_a_histogram_without_labels() -> None:
    """Its only label is the bound."""
    metrics = Metrics()
    metrics.histogram("koda_x_seconds", "X.", (1,)).observe(2)
    assert metrics.text().endswith(
        'koda_x_seconds_bucket{le="1"} 0\nkoda_x_seconds_bucket{le="+Inf"} 1\n'
        "koda_x_seconds_sum 2\nkoda_x_seconds_count 1\n"
    )


def test_large_numbers_keep_every_digit() -> None:
    """A counter above a million still grows by one: rounded to six digits it would stand still and then jump."""
    metrics = Metrics()
    counter = metrics.counter("koda_x_total", "X.")
    counter.add(12_345_678_901)
    assert metrics.text().endswith("\nkoda_x_total 12345678901\n")
    counter.add()
    assert metrics.text().endswith("\nkoda_x_total 12345678902\n")
