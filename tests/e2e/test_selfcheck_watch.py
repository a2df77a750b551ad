"""`selfcheck watch`, beside an editor: real saves, a real file system, and what is seen of it."""

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import psycopg
import pytest
from redis import Redis

from tests.support.judging import LONGEST_S, SOLUTION, Running, judge, solution_with, started, tree_with, until
from tests.support.real import Urls, services_to_break

ROW = re.compile(r"  \S (\d) .{24} (.+?) +\d\d:\d\d:\d\d(.*)")


class Watched:
    """A tree, and a `watch` beside it that has judged it once."""

    def __init__(self, tree: Path, home: Path, running: Running) -> None:
        self.tree = tree
        self.home = home
        self.running = running

    def save(self, file: str, text: str) -> None:
        """Save as editors do that write beside a file and rename."""
        beside = self.tree / f".{file}.swp"
        beside.write_text(text, "utf-8")
        beside.replace(self.tree / file)

    def write(self, file: str, text: str) -> None:
        """Save as editors do that write into the file."""
        (self.tree / file).write_text(text, "utf-8")

    def write_together(self, texts: Mapping[str, str]) -> None:
        """Save several files in what is one moment for whoever watches, however long it takes: it stands still."""
        process = self.running.process
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        for file, text in texts.items():
            self.write(file, text)
        process.send_signal(signal.SIGCONT)

    def says(self, text: str) -> list[str]:
        """Return the lines that are said until this is."""
        return self.running.until_it_says(text).splitlines()

    def states(self) -> list[str]:
        """Return the checks in the order in which they are judged, each with its state, and how many pass."""
        lines = self.says(" of 6 pass")
        rows = [match for line in lines if (match := ROW.fullmatch(line)) is not None]
        return [*(f"{row[1]} {row[2]}{row[3]}" for row in rows), lines[-1].strip()]

    def results(self) -> object:
        """Return what the newest run has left behind."""
        (file,) = self.home.glob("*/runs/last/results.json")
        return json.loads(file.read_bytes())["checks"]


@contextmanager
def watching(
    tree: Path, home: Path, *options: str, changes: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Watched]:
    """Watch a tree while the block lasts. It ends by itself when something that is waited for is never said."""
    changes = {**changes, "SELFCHECK_HOME": str(home), "PYTHONUTF8": "1", "COLUMNS": "300"}
    with started("watch", "--tree", str(tree), *options, changes=changes) as running:
        end = threading.Timer(3 * LONGEST_S, running.process.kill)
        end.start()
        try:
            yield Watched(tree, home, running)
        finally:
            end.cancel()


@pytest.fixture(scope="module", params=[(), ("--poll",)], ids=["listening", "polling"])
def watched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A tree that is watched, in either way, and judged: two exercises are written."""
    folder = tmp_path_factory.mktemp("watch")
    with watching(tree_with(folder / "tree", [1, 2]), folder / "home", *request.param) as each:
        assert each.says("every check is played; after that, at each save")[0].startswith("Koda lab")
        assert each.states() == [
            "1 passed", "2 passed", "3 passed", "4 to do", "5 to do", "6 passed", "4 of 6 pass",
        ]  # fmt: skip
        yield each


def test_saves_one_after_the_other(watched: Watched, tmp_path: Path) -> None:
    """A day at work: an exercise, a comment, half a line, the line, both files, a folder that goes and comes."""
    two = (watched.tree / "delivery.py").read_text("utf-8")
    both, all_four = ((SOLUTION / file).read_text("utf-8") for file in ("delivery.py", "lifecycle.py"))
    watched.save("delivery.py", both)
    watched.says("saved: exercise 3 changed")
    assert watched.states() == [
        "4 passed newly green", "1 passed", "2 passed", "3 passed", "5 to do", "6 passed", "5 of 6 pass",
    ]  # fmt: skip

    watched.write("delivery.py", f"{both}# done\n")
    watched.says("saved: nothing changed that counts, so nothing is played")

    watched.write("delivery.py", f"{both}def half(:\n")
    watched.says(f"delivery.py:{both.count(chr(10)) + 1} is not Python: invalid syntax")
    watched.says("expected: a file that defines class SeqOrderer")
    watched.save("delivery.py", two)
    watched.says("saved: exercise 3 changed")
    assert watched.states()[0] == "4 to do regression"

    watched.write_together({"delivery.py": both, "lifecycle.py": all_four})
    watched.says("saved: exercises 3 and 4 changed")
    assert watched.states() == [
        *("4 passed newly green", "5 passed newly green", "6 passed"), *("1 passed", "2 passed", "3 passed"),
        "6 of 6 pass",
    ]  # fmt: skip

    away = watched.tree.with_name("away")
    watched.tree.rename(away)
    watched.says("saved: nothing is played until this is mended")
    away.rename(watched.tree)
    watched.says("saved: every check is played again")
    assert watched.states()[-1] == "6 of 6 pass"
    watched.save("delivery.py", two)
    watched.says("saved: exercise 3 changed")
    assert watched.states()[0] == "4 to do regression"


def test_verdicts_are_those_of_run(tmp_path: Path) -> None:
    """In whatever order they were found: the whole results, blockers, symptoms and evidence among them."""
    tree, home = tree_with(tmp_path / "tree", [1, 2, 3, 4]), tmp_path / "home"
    shuffled = """
class SeqOrderer:
    def __init__(self, start, emit):
        self.emit = emit
    def offer(self, seq, item):
        self.emit(seq, item)
"""
    refusing = "\ndef should_merge(previous, now):\n    return bool(0)\n"
    with watching(tree, home) as each:
        assert each.states()[-1] == "6 of 6 pass"
        each.write("delivery.py", (SOLUTION / "delivery.py").read_text("utf-8") + shuffled)
        assert each.states()[0] == "2 failed regression"
        each.write("lifecycle.py", (SOLUTION / "lifecycle.py").read_text("utf-8") + refusing)
        assert [state.split()[0] for state in each.states()] == ["1", "5", "6", "2", "3", "4", "3"]
        each.says("runs/last")
        assert each.results() == judge(tree).results["checks"]


def traces(urls: Urls) -> tuple[set[bytes], set[str]]:
    """Return the keys and schemas of self-checks that are there."""
    with Redis.from_url(urls.redis) as client, psycopg.connect(urls.database) as connection:
        schemas = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'selfcheck%'").fetchall()
        return set(client.scan_iter(match="*selfcheck_*")), {str(name) for (name,) in schemas}


def test_real_services_are_watched_in_the_same_way(tmp_path: Path) -> None:
    """At each save, by services that start then; a round that is cancelled leaves nothing there either."""
    services = services_to_break()  # which nobody else works on at the same time
    urls = Urls(services.redis_url, services.database_url)
    before = traces(urls)
    mark = tmp_path / "mark"
    changes = {"MOCK": "", "REDIS_URL": urls.redis, "DATABASE_URL": urls.database}
    tree = solution_with(tmp_path / "tree")
    right = (tree / "delivery.py").read_text("utf-8")
    with watching(tree, tmp_path / "home", changes=changes) as each:
        assert each.says("real Redis")[0].startswith("Koda lab")
        assert each.states()[-1] == "6 of 6 pass"
        each.write("delivery.py", (looping(tmp_path / "other", mark) / "delivery.py").read_text("utf-8"))
        until(mark.exists, "loop")
        each.write("delivery.py", right)
        assert each.states()[-1] == "6 of 6 pass"
        each.running.process.send_signal(signal.SIGINT)
        assert each.running.ended()[::2] == (0, "")
        assert each.running.left_behind() == []
    assert traces(urls) == before


def looping(folder: Path, mark: Path) -> Path:
    """Write a tree whose orderer never returns, and leaves a mark when it is asked."""
    loop = (
        "\nimport pathlib\nclass SeqOrderer(SeqOrderer):\n    def offer(self, seq, item):\n"
        f"        pathlib.Path({str(mark)!r}).touch()\n        while True: pass\n"
    )
    return solution_with(folder, delivery=loop)


def test_a_save_in_the_middle_of_a_run_ends_it(tmp_path: Path) -> None:
    """A round that an exercise holds up for seconds is gone at once, and so are its services."""
    mark = tmp_path / "mark"
    with watching(looping(tmp_path / "tree", mark), tmp_path / "home") as each:
        until(mark.exists, "loop")
        each.write("delivery.py", (SOLUTION / "delivery.py").read_text("utf-8"))
        states = each.states()
        assert sorted(states[-7:-1]) == [f"{number} passed" for number in range(1, 7)]
        assert [state for state in states if "hung" in state or "crashed" in state] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly_and_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """That is how it is ended, and no mishap; no service stays, and none of those that were started ahead."""
    with watching(tree_with(tmp_path / "tree", []), tmp_path / "home") as each:
        each.states()
        until(lambda: len(each.running.descendants()) >= 2, "service that is started ahead")
        each.running.process.send_signal(number)
        assert each.running.ended()[::2] == (0, "")
        assert each.running.left_behind() == []


def test_it_ends_in_the_middle_of_a_run(tmp_path: Path) -> None:
    """Just as well, and without waiting for what does not return."""
    mark = tmp_path / "mark"
    with watching(looping(tmp_path / "tree", mark), tmp_path / "home") as each:
        until(mark.exists, "loop")
        each.running.process.send_signal(signal.SIGINT)
        code, out, err = each.running.ended()
        assert (code, err) == (0, "")
        assert "hung" not in out
        assert each.running.left_behind() == []


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own needs a POSIX system")
def test_on_a_terminal_the_board_is_drawn_and_keys_are_heard(tmp_path: Path) -> None:
    """Enter plays everything again, q ends it."""
    from tests.support.terminal import terminal

    tree = tree_with(tmp_path / "tree", [1, 2, 3, 4])
    changes = {"MOCK": "1", "SELFCHECK_HOME": str(tmp_path / "home"), "PYTHONUTF8": "1", "TERM": "xterm"}
    environment = {**os.environ, **changes, "COLUMNS": "80", "LINES": "30"}
    with terminal("selfcheck", ["watch", "--tree", str(tree)], environment) as screen:
        screen.until("6 of 6 pass")
        screen.type("\r")
        screen.until("every check is played again")
        screen.until("6 of 6 pass")
        screen.type("xq")
        assert screen.left() == 0
        board = screen.screen.rpartition("Koda lab")[2].splitlines()
        assert str(tree).startswith(board[0].strip().partition(",")[0].rstrip("…")[:30])
        assert board[-1] == "  Enter: everything again · q: end"
        assert screen.printed.count(b"\x1b[H") > 6
