"""The lookout: what it says of files that are written, with a file system that announces what the test wants."""

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import SimpleNamespace

import pytest

from selfcheck.texts import english
from selfcheck.watch import lookout
from selfcheck.watch.events import Event, Noted, Saved
from selfcheck.watch.lookout import Lookout
from tests.support.judging import tree_with
from tests.support.patience import PATIENCE_S


class FakeLibrary:
    """Stands in for `watchfiles`. Each `watch` takes what is to be announced, until it is told to be over."""

    def __init__(self) -> None:
        self.words: SimpleQueue[set[str] | Exception] = SimpleQueue()
        self.listening: SimpleQueue[object] = SimpleQueue()

    def watch(self, path: Path, *, stop_event: threading.Event, **options: object) -> Iterator[set[tuple[int, str]]]:
        """Yield sets of paths; an empty one when nothing came for a while."""
        assert options["recursive"] is False
        assert options["yield_on_timeout"] is True
        self.listening.put(path)
        if not path.exists():
            raise FileNotFoundError
        while not stop_event.is_set():
            with suppress(Empty):
                word = self.words.get(timeout=0.001)
                if isinstance(word, Exception):
                    raise word
                yield {(1, each) for each in word}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree, which is looked at as often as can be."""
    monkeypatch.setattr(lookout, "LOOK_S", 0.001)
    return tree_with(tmp_path / "tree", [])


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    """The library, for as long as the test lasts."""
    fake = FakeLibrary()
    monkeypatch.setitem(sys.modules, "watchfiles", SimpleNamespace(watch=fake.watch))
    return fake


class Posted:
    """What is posted."""

    def __init__(self) -> None:
        self._events: SimpleQueue[Event] = SimpleQueue()
        self.post = self._events.put

    def next(self) -> Event:
        """Return the next event, waiting for it."""
        return self._events.get(timeout=PATIENCE_S)

    def until_noted(self) -> str:
        """Return what is said about the watching itself."""
        while not isinstance(event := self.next(), Noted):
            assert isinstance(event, Saved)
        return english(event.words)

    def none(self) -> bool:
        """Whether there is nothing."""
        return self._events.empty()


def touch(tree: Path) -> None:
    """Write a file, one character longer each time. In one step: who looks in the middle of two sees two changes."""
    file, beside = tree / "lifecycle.py", tree / "beside"
    beside.write_text(f"{file.read_text('utf-8')}#", "utf-8")
    beside.replace(file)


def test_what_is_announced_is_posted(tree: Path, library: FakeLibrary) -> None:
    """Each announcement; a while without one is none."""
    posted = Posted()
    watching = Lookout(tree, posted.post)
    library.words.put(set())
    library.words.put({str(tree / "lifecycle.py")})
    assert posted.next() == Saved()
    watching.close()
    assert posted.none()


def test_what_is_not_announced_is_found_and_then_looked_for(tree: Path, library: FakeLibrary) -> None:
    """The first time it listens anew, for the folder may have been another one. The second time it gives up."""
    posted = Posted()
    watching = Lookout(tree, posted.post)
    for _ in range(2):
        assert library.listening.get(timeout=PATIENCE_S) == tree
        touch(tree)
        library.words.put(set())
        assert posted.next() == Saved()
    said = posted.until_noted()
    assert said == "this file system announces no changes: the files are looked at five times a second instead"
    touch(tree)
    assert posted.next() == Saved()
    watching.close()


def test_an_announcement_makes_up_for_one_that_was_missed(tree: Path, library: FakeLibrary) -> None:
    """It may only have been late."""
    posted = Posted()
    watching = Lookout(tree, posted.post)
    for _ in range(3):
        touch(tree)
        library.words.put(set())
        assert posted.next() == Saved()
        library.words.put({str(tree / "lifecycle.py")})
        assert posted.next() == Saved()
    watching.close()
    assert posted.none()


@pytest.mark.parametrize("refusal", [OSError("no space left on device"), RuntimeError("not here")])
def test_where_it_cannot_listen_it_looks(refusal: Exception, tree: Path, library: FakeLibrary) -> None:
    """And says why."""
    library.words.put(refusal)
    posted = Posted()
    watching = Lookout(tree, posted.post)
    assert posted.until_noted() == (
        f"changes cannot be listened to ({refusal}): the files are looked at five times a second instead"
    )
    touch(tree)
    assert posted.next() == Saved()
    watching.close()


def test_without_the_library_it_looks(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command works all the same."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)  # that is how an import is refused
    posted = Posted()
    watching = Lookout(tree, posted.post)
    assert posted.until_noted() == ("watchfiles is not installed: the files are looked at five times a second instead")
    watching.close()


def test_who_asks_for_looking_gets_it_without_a_word(tree: Path, library: FakeLibrary) -> None:
    """With --poll nothing is listened to."""
    posted = Posted()
    watching = Lookout(tree, posted.post, listens=False)
    touch(tree)
    assert posted.next() == Saved()
    watching.close()
    assert library.listening.empty()
    assert posted.none()


def test_a_folder_that_goes_is_waited_for(tree: Path, library: FakeLibrary) -> None:
    """When it is back, it is listened to anew."""
    posted = Posted()
    away = tree.with_name("away")
    watching = Lookout(tree, posted.post)
    library.listening.get(timeout=PATIENCE_S)
    tree.rename(away)
    library.words.put({str(tree)})
    assert posted.next() == Saved()
    library.listening.get(timeout=PATIENCE_S)
    away.rename(tree)
    library.words.put(set())  # it may have been back just in time to be listened to, and not to be seen coming
    assert posted.next() == Saved()
    library.words.put({str(tree / "lifecycle.py")})
    assert posted.next() == Saved()
    watching.close()
