"""`selfcheck watch`, put together: the lookout, the keys, the rounds, and the loop between them."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue

from selfcheck import early
from selfcheck.console import out
from selfcheck.keyboard import Keyboard, keyboard
from selfcheck.play import first_service
from selfcheck.reporting.sheet import Sheet
from selfcheck.trees import folder_of
from selfcheck.watch.ahead import Ahead
from selfcheck.watch.events import Event, Playing, Post, Pressed
from selfcheck.watch.lookout import Lookout
from selfcheck.watch.loop import Loop
from selfcheck.watch.rounds import Round, RoundJudge
from selfcheck.watch.screen import screen
from shared.addresses import choose


def watch(options: early.Options, *, poll: bool) -> None:
    """Judge a tree, and again at each save, until Ctrl-C, or `q` on a terminal. That is no interruption, but its end.

    Raises:
        Misconfigured: there is no such tree, the settings contradict each other, or there is no kit around us.
    """
    tree = folder_of(options.tree)
    urls = choose(os.environ)
    spec, _ = first_service(options.tree, urls, None)
    inbox: SimpleQueue[Event] = SimpleQueue()
    ahead = Ahead(0 if urls is not None else 2)

    def begin(order: Sequence[int]) -> Playing:
        return Round(RoundJudge(spec, options.seed, ahead), order, inbox.put)

    def new_sheet() -> Sheet:
        return Sheet(options, "mock" if urls is None else "real")

    lookout = Lookout(tree, inbox.put, listens=not poll)
    try:
        with _keys(inbox.put) as has_keys, suppress(KeyboardInterrupt):
            Loop(tree, new_sheet, inbox, begin, screen(out, keys=has_keys), ahead.fill).run()
    finally:
        ahead.close()
        lookout.close()


@contextmanager
def _keys(post: Post) -> Iterator[bool]:
    """Post the keys that are pressed while the block lasts, where there is a terminal for it; say whether there is."""
    keys = keyboard()
    if not isinstance(keys, Keyboard):
        yield False
        return

    def read() -> None:
        while key := os.read(sys.stdin.fileno(), 1):
            post(Pressed(key.decode("latin-1")))
        post(Pressed(""))

    with keys.watched():
        threading.Thread(target=read, daemon=True).start()
        yield True
