"""Wrong orderers: what is dropped, held, delivered, and whose buffer it is."""

from textwrap import dedent

from tests.mutants.submission import (
    CRASHED,
    FAILED,
    FAILED_OR_CRASHED,
    FAILED_OR_HUNG,
    Mutant,
    States,
    orderer_class,
)

INIT = """\
self._due = start
self._emit = emit
self._held = {}
"""

OFFER = """\
if seq < self._due:
    return
self._held[seq] = item
while self._due in self._held:
    due = self._due
    self._due += 1
    self._emit(due, self._held.pop(due))
"""


def orderer(
    name: str,
    symptom: str,
    offer: str = OFFER,
    init: str = INIT,
    *,
    extra: str = "",
    parameters: str = "start, emit",
    states: States = FAILED,
    head: bytes = b"",
    recognised_as: tuple[str, ...] = (),
) -> Mutant:
    """Make a mutant of the class."""
    source = orderer_class(offer, init, extra, parameters)
    return Mutant(name, 2, symptom, source, head, caught_by=(2,), states=states, recognised_as=recognised_as)


def _instead(old: str, new: str, text: str = OFFER) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


ORDERERS = (
    orderer(
        "if-for-while",
        "delivers one; what follows stays held",
        _instead("while", "if"),
        recognised_as=("if-for-while",),
    ),
    orderer(
        "drops-the-due-one",
        "`<=` for `<`: nothing ever comes out",
        _instead("seq < self._due", "seq <= self._due"),
        recognised_as=("nothing-comes-out",),
    ),
    orderer(
        "starts-one-late",
        "the first event never comes out",
        init=_instead("= start", "= start + 1", INIT),
        recognised_as=("starts-one-late",),
    ),
    orderer(
        "starts-one-early",
        "waits for a number before the first",
        init=_instead("= start", "= start - 1", INIT),
        recognised_as=("starts-one-early",),
    ),
    orderer(
        "starts-at-zero",
        "a reader who comes back waits for what it has",
        init=_instead("= start", "= 0", INIT),
        recognised_as=("start-ignored",),
    ),
    orderer(
        "starts-with-the-first-arrival",
        "whatever comes first is taken for the beginning",
        "if self._due is None:\n    self._due = seq\n" + OFFER,
        _instead("= start", "= None", INIT),
        recognised_as=("first-arrival-is-start",),
    ),
    orderer(
        "delivers-old-ones-again",
        "a number below the pointer goes out a second time",
        _instead("    return\n", "    self._emit(seq, item)\n    return\n"),
        recognised_as=("old-delivered-again",),
    ),
    orderer(
        "drops-what-was-overtaken",
        "what overtakes is delivered at once, and what it overtook is dropped",
        """
        if seq < self._due:
            return
        self._due = seq + 1
        self._emit(seq, item)
        """,
        recognised_as=("overtaken-dropped",),
    ),
    orderer(
        "drops-what-comes-early",
        "what comes too early is dropped instead of held",
        """
        if seq == self._due:
            self._due += 1
            self._emit(seq, item)
        """,
        recognised_as=("early-dropped",),
    ),
    orderer(
        "stops-at-an-empty-text",
        "an empty fragment ends the deliveries and is lost",
        """
        if seq < self._due:
            return
        self._held[seq] = item
        while item := self._held.pop(self._due, None):
            self._due += 1
            self._emit(self._due - 1, item)
        """,
        recognised_as=("empty-text-is-nothing",),
    ),
    orderer(
        "drops-empty-texts",
        "an empty fragment is taken for none",
        "if not item:\n    return\n" + OFFER,
        recognised_as=("empty-text-is-nothing",),
    ),
    orderer(
        "shares-its-buffer",
        "the buffer hangs on the class: connections see each other's events",
        init=_instead("self._held = {}\n", "", INIT),
        extra="_held = {}",
        recognised_as=("shared-between-orderers",),
    ),
    orderer(
        "shares-its-default",
        "the buffer is a mutable default: one for all connections",
        init=_instead("{}", "held", INIT),
        parameters="start, emit, held={}",
        recognised_as=("shared-between-orderers",),
    ),
    orderer(
        "shares-its-pointer",
        "the newest connection moves the pointer of all others",
        OFFER.replace("self._due", "SeqOrderer.due"),
        INIT.replace("self._due", "SeqOrderer.due"),
        recognised_as=("shared-between-orderers",),
    ),
    orderer(
        "recursion",
        "calls itself for each held item: the stack ends at a thousand",
        """
        if seq < self._due:
            return
        if seq > self._due:
            self._held[seq] = item
            return
        self._due += 1
        self._emit(seq, item)
        if self._due in self._held:
            self.offer(self._due, self._held.pop(self._due))
        """,
        states=CRASHED,
        recognised_as=("recursion",),
    ),
    orderer(
        "quadratic",
        "looks through all it holds for every item: ten thousand take for ever",
        """
        if seq < self._due:
            return
        rest = [(seq, item)]
        for held in self._held:
            if held[0] != seq:
                rest.append(held)
        self._held = rest
        found = True
        while found:
            found = False
            for held in self._held:
                if held[0] == self._due:
                    found = True
                    self._due += 1
                    self._emit(*held)
        """,
        _instead("{}", "[]", INIT),
        states=FAILED_OR_HUNG,
        recognised_as=("cost-grows", "does-not-return"),
    ),
    orderer(
        "heap-of-pairs",
        "two copies of a number make the heap compare the items, which have no order",
        """
        heapq.heappush(self._held, (seq, item))
        while self._held and self._held[0][0] <= self._due:
            seq, item = heapq.heappop(self._held)
            if seq == self._due:
                self._due += 1
                self._emit(seq, item)
        """,
        _instead("{}", "[]", INIT),
        states=FAILED_OR_CRASHED,
        head=b"import heapq\n",
        recognised_as=("items-compared",),
    ),
    orderer(
        "jumps-after-64",
        "gives a hole up when 64 items wait behind it",
        _instead("while", "if len(self._held) > 64:\n    self._due = min(self._held)\nwhile"),
        recognised_as=("gives-a-gap-up",),
    ),
    orderer(
        "forgets-beyond-a-thousand",
        "holds no more than a thousand items and drops the rest",
        _instead("self._held[seq] = item", "if len(self._held) < 1000:\n    self._held[seq] = item"),
        recognised_as=("held-is-limited",),
    ),
    orderer(
        "delivers-by-arrival",
        "when the missing one comes all that is held goes out, in the order it came",
        """
        if seq < self._due or seq in self._held:
            return
        self._held[seq] = item
        if self._due in self._held:
            for due in list(self._held):
                self._emit(due, self._held.pop(due))
                self._due = max(self._due, due + 1)
        """,
        recognised_as=("held-in-order-of-arrival",),
    ),
    orderer(
        "delivers-over-holes",
        "when the missing one comes all that is held goes out sorted, over the next hole",
        """
        if seq < self._due:
            return
        self._held[seq] = item
        if self._due in self._held:
            for due in sorted(self._held):
                self._emit(due, self._held.pop(due))
                self._due = due + 1
        """,
        recognised_as=("next-gap-ignored",),
    ),
    orderer(
        "delivers-the-newest-first",
        "the contiguous run goes out from its end",
        """
        if seq < self._due:
            return
        self._held[seq] = item
        ready = []
        while self._due in self._held:
            ready.append((self._due, self._held.pop(self._due)))
            self._due += 1
        for due, held in reversed(ready):
            self._emit(due, held)
        """,
        recognised_as=("newest-first",),
    ),
    orderer(
        "keeps-every-copy",
        "an item that arrived twice before it was due goes out twice",
        """
        if seq < self._due:
            return
        self._held.setdefault(seq, []).append(item)
        while self._due in self._held:
            for copy in self._held.pop(self._due):
                self._emit(self._due, copy)
            self._due += 1
        """,
        recognised_as=("every-copy-held",),
    ),
    orderer(
        "knows-items-by-their-text",
        "a word that occurs twice in the reply is taken for a copy",
        "if item in self._held.values():\n    return\n" + OFFER,
        recognised_as=("copies-known-by-text",),
    ),
    orderer(
        "emits-the-wrong-number",
        "what was held goes out under the number that came",
        _instead("(due, self", "(seq, self"),
        recognised_as=("held-under-wrong-number",),
    ),
    orderer(
        "emits-item-before-number",
        "calls emit(item, seq)",
        _instead("self._emit(due, self._held.pop(due))", "self._emit(self._held.pop(due), due)"),
        recognised_as=("emit-arguments-swapped",),
    ),
    orderer(
        "emits-one-call-late",
        "an item goes out when the next one is offered; the last never does",
        dedent("""
            for due, held in self._ready:
                self._emit(due, held)
            self._ready = []
        """)
        + _instead("self._emit(due, self._held.pop(due))", "self._ready.append((due, self._held.pop(due)))"),
        INIT + "self._ready = []\n",
        recognised_as=("one-offer-late",),
    ),
    orderer(
        "returns-instead-of-emitting",
        "hands back a list that nobody looks at",
        "ready = []\n"
        + _instead("self._emit(due, self._held.pop(due))", "ready.append((due, self._held.pop(due)))")
        + "return ready\n",
        recognised_as=("returned-for-emitted",),
    ),
    orderer(
        "refuses-copies",
        "raises on the second copy of a number, which the bus sends as a matter of course",
        "if seq < self._due or seq in self._held:\n    raise ValueError(seq)\n" + OFFER,
        states=CRASHED,
        recognised_as=("copy-raises",),
    ),
)
