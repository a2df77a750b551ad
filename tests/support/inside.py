"""Models whose code is the test's: what runs inside a run, and what it leaves on the run's log."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from shared.events import Event, Json, decode_data
from shared.ports import Mark
from shared.settings import MERGE_WINDOW
from tests.support.workshop import Workshop
from worker.models.port import Piece, Request

Deed = Callable[[Request], AsyncGenerator[Piece]]


class Acting:
    """A model that does what a test says. The first run's calls take the deeds in turn; the last one repeats.

    Sub-runs are known by their text: `parts` says what those do.
    """

    def __init__(self, *deeds: Deed, parts: Mapping[str, Deed] | None = None) -> None:
        self.requests: list[Request] = []
        self._deeds = deeds
        self._parts: Mapping[str, Deed] = {} if parts is None else parts
        self._calls = 0

    @property
    def texts(self) -> list[list[str]]:
        """The messages of each call."""
        return [[message.text for message in request.messages] for request in self.requests]

    def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Do it."""
        self.requests.append(request)
        part = self._parts.get(request.messages[-1].text)
        if part is not None:
            return part(request)
        deed = self._deeds[min(self._calls, len(self._deeds) - 1)]
        self._calls += 1
        return deed(request)


def told(events: Sequence[Event]) -> list[tuple[str, dict[str, Json]]]:
    """Return what a log says, seqs aside: kind and data of each event. That the seqs have no hole is checked."""
    assert [event.seq for event in events] == list(range(len(events)))
    return [(event.kind.value, decode_data(event.data)) for event in events]


def kinds(events: Sequence[Event]) -> list[str]:
    """Return the kinds of a log's events; of fragments, their texts in quotes."""
    return [
        f"'{decode_data(event.data)['text']}'" if event.kind.value == "delta" else event.kind.value for event in events
    ]


async def open_question(shop: Workshop, run_id: str, number: int = -1) -> str:
    """Return the id of a question of a run that is there: the newest unless told."""
    return (await shop.store.questions_of(run_id))[number].id


async def answer(shop: Workshop, run_id: str, text: str, *, number: int = -1, heard: bool = True) -> None:
    """Answer a run's question as the gateway does. Not `heard`: the mark is lost."""
    answering = await shop.store.answer(await open_question(shop, run_id, number), None, text)
    assert answering is not None
    if heard:
        await shop.ports.marks.set(run_id, Mark.ANSWER, MERGE_WINDOW)
