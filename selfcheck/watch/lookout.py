"""The lookout: a thread that says when the tree may have been written.

It listens to the file system, and looks for itself once in a while: what it finds then was not announced. Where that
happens again, as with a folder on another machine, it stops listening and looks more often. It watches the folder and
not the files, so that an editor may write beside a file and rename; a folder that goes away is waited for.
"""

import threading
from collections.abc import Iterable
from pathlib import Path

from selfcheck.texts import Message, say
from selfcheck.watch.events import Noted, Post, Saved
from selfcheck.watch.reading import Stamp, stamps

LOOK_S = 0.2  # between two looks, where nothing is announced
LISTEN_MS = 1000  # after so long without a word it looks for itself
MOST_UNANNOUNCED = 2  # the first one may have been found while its announcement was on its way
GROUPED_MS = 100  # announcements that come in a row are one, for so long at most
APART_MS = 20  # it wakes up so often, too

State = tuple[tuple[Stamp, ...], tuple[int, ...]]


class Lookout:
    """Watches a tree from the moment it is made until it is closed; posts `Saved`, and `Noted` when it gives up."""

    def __init__(self, tree: Path, post: Post, *, listens: bool = True) -> None:
        self._tree = tree
        self._post = post
        self._closed = threading.Event()
        self._seen = self._state()
        self._unannounced = 0
        self._thread = threading.Thread(target=self._watch, args=(listens,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()
        self._thread.join()

    def _watch(self, listens: bool) -> None:
        if listens:
            why = self._listen()
            if self._closed.is_set():
                return
            self._post(Noted(why))
        while not self._closed.wait(LOOK_S):
            self._look()

    def _listen(self) -> Message:
        """Listen until that is of no use, and say why."""
        try:
            from watchfiles import watch  # no command but this one needs it
        except ImportError:
            return say("watch.no_library")
        while not self._closed.is_set():
            announcements = watch(
                self._tree, watch_filter=None, debounce=GROUPED_MS, step=APART_MS, rust_timeout=LISTEN_MS,
                yield_on_timeout=True, stop_event=self._closed, raise_interrupt=False, recursive=False,
            )  # fmt: skip
            try:
                self._hear({path for _, path in changes} for changes in announcements)
            except FileNotFoundError:
                self._look()
                self._closed.wait(LOOK_S)
            except (OSError, RuntimeError) as refusal:  # no more watches to be had, or none on this file system
                return say("watch.refused", reason=str(refusal))
            if self._unannounced >= MOST_UNANNOUNCED:
                break
        return say("watch.no_events")

    def _hear(self, announcements: Iterable[set[str]]) -> None:
        """Pass on what is announced, until the folder may be another one than the one that is listened to."""
        for paths in announcements:
            if paths:
                self._unannounced = 0
                folder = self._seen[1]
                self._seen = self._state()
                self._post(Saved())
                if str(self._tree) in paths or self._seen[1] != folder:
                    return
            elif self._look():
                self._unannounced += 1
                return

    def _look(self) -> bool:
        """Pass on what has changed since the last look, and say whether anything has."""
        before, self._seen = self._seen, self._state()
        if self._seen != before:
            self._post(Saved())
        return self._seen != before

    def _state(self) -> State:
        try:
            folder = self._tree.stat()
        except OSError:
            return stamps(self._tree), ()
        return stamps(self._tree), (folder.st_dev, folder.st_ino)
