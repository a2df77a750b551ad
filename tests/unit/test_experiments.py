"""The experiments' parts, and what they point to."""

import ast
import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import fields
from datetime import timedelta

import pytest

from selfcheck.checks import CHECKS
from selfcheck.experiments import NAMES
from selfcheck.experiments.compose import ForgetfulStore, GroupOutput, RenumberedStore
from selfcheck.experiments.experiment import Pointer, area_of, find
from selfcheck.experiments.parts import LossyOutput, RenumberedOutput, Renumbering, StoreForStream, Watched
from selfcheck.texts import area_texts
from shared.adapters.clock import SystemClock
from shared.adapters.memory import MemoryBus, MemoryMarks, MemoryOutputStream, MemoryStore
from shared.events import Event, EventKind, encode_data
from shared.exercises import Orderer, load
from shared.ports import Mark, Store
from shared.run import RunStatus
from shared.settings import Settings, variable_of
from tests.support.runs import a_message, a_run
from tests.support.sources import ROOT

EXPERIMENTS = [find(name) for name in NAMES]
LEASE = timedelta(minutes=1)


def rerun(seq: int) -> Event:
    """Return an event that says that the text so far is void."""
    return Event("r", seq, EventKind.RERUN, encode_data({"reason": "merge", "attempt": 1}))


def delta(seq: int, run_id: str = "r") -> Event:
    """Return a fragment."""
    return Event(run_id, seq, EventKind.DELTA, encode_data({"text": str(seq)}))


# what they point to


def names_in(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all classes, functions and methods."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from names_in(node.body, f"{prefix}{node.name}.")


POINTERS = sorted({str(place): place for each in EXPERIMENTS for place in (*each.code, *each.tests)}.items())


@pytest.mark.parametrize("place", [place for _, place in POINTERS], ids=[shown for shown, _ in POINTERS])
def test_every_pointer_leads_somewhere(place: Pointer) -> None:
    """The file is there, and has what is named in it."""
    assert place.name in set(names_in(ast.parse((ROOT / place.file).read_text("utf-8")).body))


@pytest.mark.parametrize("name", NAMES)
def test_each_experiment_says_where_to_look_and_what_holds_it(name: str) -> None:
    """It points to code and to a test; its check, if it has one, is one of the six; its settings are ours."""
    each = find(name)
    assert (each.name, bool(each.code), bool(each.tests)) == (name, True, True)
    assert each.check in {None, *(check.id for check in CHECKS)}
    ours = {variable_of(setting) for setting in fields(Settings)}
    assert {*each.settings, *each.broken_settings} <= ours


@pytest.mark.parametrize("name", NAMES)
def test_each_experiment_has_its_words(name: str) -> None:
    """A line in the list, and what is told before and after."""
    assert {"breaks", "predict", "look", "why"} <= area_texts("en", area_of(name)).keys()
    assert area_of(name).removeprefix("experiments_") in area_texts("en", "experiments")


# what they load


def loaded(program: str) -> set[str]:
    """Return the modules in memory after a program has run in an interpreter of its own."""
    report = f"{program}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", report], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_their_names_cost_nothing() -> None:
    """Whoever only points to an experiment loads none, nor what they draw and talk with."""
    names = loaded("from selfcheck.experiments import NAMES")
    assert {name for name in names if name.startswith("selfcheck.")} == {"selfcheck.experiments"}
    assert names & {"rich", "httpx", "asyncio"} == set()


def test_no_judge_and_no_judged_service_knows_of_them() -> None:
    """They are loaded by their own command, and by a service that was asked for one."""
    names = loaded("import selfcheck.play, selfcheck.service, selfcheck.lab.compose, selfcheck.cli")
    assert {name for name in names if name.startswith("selfcheck.experiments")} == set()


# what they break


async def first(batches: AsyncGenerator[Sequence[Event]], count: int) -> list[int]:
    """Follow until so many events have come, and return their numbers."""
    seqs: list[int] = []
    async with aclosing(batches):
        async for events in batches:
            seqs += [event.seq for event in events]
            if len(seqs) >= count:
                break
    return seqs


def test_a_group_gives_the_next_entry_to_who_has_waited_longest() -> None:
    """Two readers take turns, however many entries come at once."""

    async def scenario() -> tuple[list[int], list[int]]:
        output = GroupOutput(MemoryBus())
        readers = [asyncio.create_task(first(output.follow("r"), 3)) for _ in range(2)]
        await asyncio.sleep(0)
        await output.append([delta(seq) for seq in range(6)], 1)
        return await readers[0], await readers[1]

    assert asyncio.run(scenario()) == ([0, 2, 4], [1, 3, 5])


def test_a_lossy_stream_loses_one_number() -> None:
    """On the way to who follows; it is on the stream all the same."""

    async def scenario() -> tuple[list[int], int]:
        output = LossyOutput(MemoryOutputStream(MemoryBus()), lost=1)
        for seq in range(4):
            await output.append([delta(seq)], 1)
        return await first(output.follow("r"), 3), len(await output.entries("r"))

    assert asyncio.run(scenario()) == ([0, 2, 3], 4)


def test_numbers_begin_again_with_each_rerun() -> None:
    """What was written before it keeps its number, also when it comes to be asked about later."""
    numbers = Renumbering()
    assert [event.seq for event in numbers.of([delta(0), delta(1), rerun(2), delta(3)])] == [0, 1, 0, 1]
    assert [event.seq for event in numbers.of([delta(1), rerun(2), delta(3), rerun(4), delta(5)])] == [1, 0, 1, 0, 1]
    assert [event.seq for event in numbers.of([delta(7, "another")])] == [7]


async def claimed(store: Store) -> None:
    """Open the run `r` and claim it."""
    await store.open_run(a_run("r"), a_message("m"))
    assert await store.claim("owner", LEASE) is not None


def test_a_number_that_is_taken_is_not_stored_again() -> None:
    """Of the second reply, the store keeps what the first one had no number for; the stream has all of it."""

    async def scenario() -> tuple[list[str], list[int]]:
        numbers = Renumbering()
        store, output = RenumberedStore(numbers), RenumberedOutput(MemoryOutputStream(MemoryBus()), numbers)
        await claimed(store)
        written = [delta(0), delta(1), rerun(2), delta(3), delta(4)]
        await output.append(written, 1)
        await store.append("r", 1, written)
        kept = [f"{event.seq} {event.data}" for event in await store.events("r", 0, 9)]
        return kept, [event.seq for event in await output.entries("r")]

    assert asyncio.run(scenario()) == (
        ['0 {"text":"0"}', '1 {"text":"1"}', '2 {"text":"4"}'],
        [0, 1, 0, 1, 2],
    )


def test_a_forgetful_store_keeps_the_run_and_no_event() -> None:
    """Not even its last."""

    async def scenario() -> tuple[str, int]:
        store = ForgetfulStore(SystemClock())
        await claimed(store)
        await store.append("r", 1, [delta(0)])
        await store.finish("r", 1, RunStatus.RUNNING, RunStatus.DONE, [delta(1)], None, "")
        stored = await store.run("r")
        assert stored is not None
        return str(stored.run.status), len(await store.events("r", 0, 9))

    assert asyncio.run(scenario()) == ("done", 0)


def test_a_store_in_the_place_of_a_stream_gives_what_was_flushed() -> None:
    """Nothing is appended to a stream, but the marks come back; who follows gets the store's events."""

    async def scenario() -> tuple[frozenset[Mark], int, list[int]]:
        bus, store = MemoryBus(), MemoryStore(SystemClock())
        marks, stream = MemoryMarks(bus), MemoryOutputStream(bus)
        output = StoreForStream(stream, store, marks)
        await claimed(store)
        await marks.set("r", Mark.RERUN, LEASE)
        answered = await output.append([delta(0)], 1)
        await store.append("r", 1, [delta(0), delta(1)])
        return answered, len(await stream.entries("r")), await first(output.follow("r"), 2)

    assert asyncio.run(scenario()) == (frozenset({Mark.RERUN}), 0, [0, 1])


def test_what_an_orderer_holds_is_counted() -> None:
    """From its offer until it is emitted; a copy of what was emitted is not held."""
    watched = Watched(load(ROOT / "solution", ROOT / "solution").exercises.SeqOrderer)
    emitted: list[int] = []
    orderer: Orderer[str] = watched(0, lambda seq, _: emitted.append(seq))
    for seq in (0, 2, 3, 0):
        orderer.offer(seq, "item")
    assert (sorted(watched.held), watched.offered, emitted) == ([2, 3], 3, [0])
    orderer.offer(1, "item")
    assert (watched.held, watched.most, emitted) == ({}, 2, [0, 1, 2, 3])
