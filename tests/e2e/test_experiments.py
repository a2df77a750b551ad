"""The experiments: what is broken shows on the broken service, and does not on the one beside it."""

import io
import secrets
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from selfcheck import texts
from selfcheck.experiments import (
    NAMES,
    consumer_group,
    no_terminal_states,
    seq_reset,
    store_without_stream,
    stream_without_store,
    unbounded_buffer,
)
from selfcheck.experiments.experiment import Experiment, Ground, Row, both
from selfcheck.experiments.ground import grounds, services
from selfcheck.experiments.showing import explain
from selfcheck.texts import Lang
from tests.support.judging import environment, marked, started, until
from tests.support.terminal import CTRL_C, terminal

S = TypeVar("S")


def seen(experiment: Experiment, play: Callable[[Ground], S], rows: Callable[[tuple[S, S]], list[Row]]) -> tuple[S, S]:
    """Play on both services and return what was seen on the healthy one, and on the broken one; look at it, too."""
    with services(experiment) as pair, grounds(pair) as (healthy, broken):
        sides = both(play, healthy, broken)
    looks: tuple[tuple[Lang, str], ...] = (("en", "What to look at"), ("zh", "看哪里"))
    for lang, look in looks:
        shown = drawn(experiment, lambda: rows(sides), lang)
        assert max(cell_len(line) for line in shown.splitlines()) <= 80
        assert look in shown
    return sides


def drawn(experiment: Experiment, rows: Callable[[], list[Row]], lang: Lang) -> str:
    """Return what is shown behind an experiment in a terminal of 80 columns."""
    console = Console(width=80, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    texts.use(lang)
    try:
        with console.capture() as captured:
            explain(console, experiment, rows())
    finally:
        texts.use("en")
    return Text.from_ansi(captured.get()).plain


def test_a_group_shares_the_events_out() -> None:
    """Each of two gateways is given what the other lacks, and nobody sees more than a word before the guard helps."""
    healthy, broken = seen(consumer_group.EXPERIMENT, consumer_group.play, consumer_group.rows)
    every = list(range(healthy.events))
    assert [(each.given, each.in_time, each.seen) for each in healthy.waiters] == [(every, every, every)] * 2
    assert (healthy.backfills, len(every), broken.events) == (0, 39, 39)

    a, b = (each.given for each in broken.waiters)
    assert (sorted([*a, *b]), set(a) & set(b)) == (every, set())
    assert abs(len(a) - len(b)) <= 1
    assert [each.seen for each in broken.waiters] == [every, every]
    assert all(len(each.in_time) <= 1 and each.last_after_s > 0.9 for each in broken.waiters)
    assert broken.backfills >= 2


def test_a_seq_that_begins_again_is_taken_for_a_copy() -> None:
    """The rerun and the first words after it are dropped, on the way to the waiter and in the store."""
    healthy, broken = seen(seq_reset.EXPERIMENT, seq_reset.play, seq_reset.rows)
    assert healthy.received == healthy.written == list(range(51))
    assert (seq_reset.dropped(healthy), healthy.reruns, healthy.stored) == ([], 1, healthy.text)
    assert healthy.text.startswith("Of course, no refund then. I have set up an exchange")

    assert broken.written == [*range(9), *range(42)]
    assert (broken.received, seq_reset.dropped(broken)) == (list(range(42)), list(range(9, 18)))
    assert (broken.reruns, broken.stored) == (0, broken.text)
    assert broken.text.startswith("Thank you for writing in. I am sorry that up an exchange for your order")


def test_a_stream_alone_forgets() -> None:
    """Without the store's copy the second connection gets no text, and the conversation is empty."""
    healthy, broken = seen(stream_without_store.EXPERIMENT, stream_without_store.play, stream_without_store.rows)
    assert [*healthy.before, *healthy.after] == list(range(39))
    assert (healthy.kinds[-1], healthy.problem, healthy.reopened[:9]) == ("done", "", "Thank you")

    assert (broken.before, broken.after, broken.kinds) == (list(range(6)), [], ["gap", "error"])
    assert (broken.problem[:7], broken.reopened, broken.events) == ("event 0", "", 39)


def test_a_store_alone_is_late() -> None:
    """The first word waits for the first batch, and all others come in gulps; none is lost."""
    healthy, broken = seen(store_without_stream.EXPERIMENT, store_without_stream.play, store_without_stream.rows)
    assert [len(turn.fragments_s) for turn in [*healthy, *broken]] == [38] * 6
    batch_s = 0.2
    assert min(turn.first_s for turn in broken) > batch_s
    assert min(turn.first_s for turn in healthy) < min(turn.first_s for turn in broken)
    assert max(turn.pause_s for turn in broken) > batch_s / 2 > median(turn.pauses_s[0] for turn in healthy)


def test_a_run_that_leaves_its_end_keeps_its_waiters_and_its_session() -> None:
    """It is active again and has no worker, its waiter finds no end, and the session's next run is not begun."""
    healthy, broken = seen(no_terminal_states.EXPERIMENT, no_terminal_states.play, no_terminal_states.rows)
    assert healthy == no_terminal_states.Seen(
        moves=["pending", "running", "streaming", "done"],
        refusal="illegal transition: done → streaming",
        status="done",
        returns=[],
        stopped=True,
        next_status="done",
        other_status="done",
    )
    assert broken == no_terminal_states.Seen(
        moves=["pending", "running", "streaming", "done", "streaming"],
        refusal=None,
        status="streaming",
        returns=[["delta", "error"], ["error"], ["error"], ["error"]],
        stopped=False,
        next_status="pending",
        other_status="done",
    )


def test_a_buffer_without_a_guard_grows() -> None:
    """Everything behind the hole is held, in ever more memory, and the waiter has the three events before it."""
    healthy, broken = seen(unbounded_buffer.EXPERIMENT, unbounded_buffer.play, unbounded_buffer.rows)
    steps = unbounded_buffer.STEPS
    assert [(each.held, each.received) for each in healthy.samples[1:]] == [(0, step) for step in steps[1:]]
    assert healthy.most <= steps[1]

    assert [(each.held, each.received) for each in broken.samples] == [(step - 4, 3) for step in steps]
    assert broken.most == steps[-1] - 4
    assert all(fewer.bytes < more.bytes for fewer, more in pairwise(broken.samples))


# what is shown


def test_a_terminal_without_unicode_is_shown_as_much() -> None:
    """Lanes and arrows have plain characters, no line grows by them; it does not wait, and nothing stays behind."""
    changes = {"COLUMNS": "80", "PYTHONIOENCODING": "ascii"}
    with started("experiment", "no-terminal-states", changes=changes) as running:
        code, out, err = running.ended()
        assert (code, err, out.isascii(), running.left_behind()) == (0, "", True, [])
    heads = ("What is broken", "What do you expect?", "\nas it is", "What to look at", "Why it is as it is", "Held by")
    places = [out.find(head) for head in heads]
    assert (places, places[0] > 0) == (sorted(places), True)
    assert "pending -> running -> streaming ->" in out
    assert max(map(len, out.splitlines())) <= 80


def test_without_a_name_all_are_listed() -> None:
    """A line each."""
    with started("experiment") as running:
        code, out, err = running.ended()
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")][:-1] == list(NAMES)


def test_an_unknown_name_is_a_wrong_use() -> None:
    """It says which there are."""
    with started("experiment", "nothing") as running:
        code, out, err = running.ended()
    assert (code, out) == (2, "")
    assert "there is no experiment nothing; it is one of: consumer-group, seq-reset" in err


def test_on_a_terminal_it_waits_for_enter(tmp_path: Path) -> None:
    """What happens is not shown before somebody has had time to predict it."""
    capable = environment("thinking", {"TERM": "xterm", "COLUMNS": "80", "SELFCHECK_HOME": str(tmp_path)})
    with terminal("selfcheck", ["experiment", "seq-reset"], capable) as screen:
        screen.until("Press Enter")
        assert "as it is" not in screen.screen.partition("Press Enter")[2]
        screen.type("\n")
        screen.until("What to look at")
        assert screen.left() == 0


def test_ctrl_c_ends_it_quietly(tmp_path: Path) -> None:
    """One word, no traceback, and both services are gone."""
    mark = secrets.token_hex(8)
    capable = environment(mark, {"TERM": "xterm", "COLUMNS": "80", "SELFCHECK_HOME": str(tmp_path)})
    with terminal("selfcheck", ["experiment", "seq-reset"], capable) as screen:
        screen.until("Press Enter")
        screen.type(CTRL_C)
        assert screen.left(again=CTRL_C) == 130
        assert screen.screen.replace("^C", "").splitlines()[-1] == "stopped"
        assert "Traceback" not in screen.screen
    until(lambda: marked(mark) == [], "end of both services")


def test_an_end_in_the_middle_leaves_nothing_behind() -> None:
    """Who is asked to end while it plays ends both services first."""
    with started("experiment", "consumer-group") as running:
        running.until_it_says("Playing")
        running.process.send_signal(signal.SIGTERM)
        code, _, err = running.ended()
        assert (code, err, running.left_behind()) == (130, "stopped\n", [])
