"""Grading from beginning to end: find, judge at several places at once, write down, show.

Whatever is known from an earlier time, of the same contents and judged by the same kit in the same way, is not judged
again.
"""

import hashlib
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from selfcheck.console import out
from selfcheck.early import DEFAULT_SEED
from selfcheck.files import write_whole
from selfcheck.grading import exports, flags, house, landlock, submissions
from selfcheck.grading.books import Books, claimed
from selfcheck.grading.orders import Limits, Order, Place
from selfcheck.grading.record import Record, compose
from selfcheck.grading.screen import Screen, show_result
from selfcheck.grading.submissions import Submission
from selfcheck.grading.wardens import Held, users
from selfcheck.outcome import ENVIRONMENT, PASSED
from selfcheck.results import State
from selfcheck.texts import say
from selfcheck.trees import kit_root
from shared.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be graded, how, and where results go."""

    places: Sequence[str]
    out: Path
    jobs: int
    limits: Limits
    seed: int | None = None  # None: the assignment's
    fresh: bool = False
    junit: Path | None = None
    gradescope: bool = False


@dataclass(frozen=True, slots=True)
class _Task:
    submission: Submission
    key: str


@dataclass(frozen=True, slots=True)
class _Ended:
    task: _Task
    record: Record
    seconds: float


def grade(wish: Wish) -> int:
    """Grade, and return the exit code: 0 when every submission was judged, whatever its marks.

    Raises:
        Misconfigured: there is nothing to grade, nowhere to write, or no way to keep submissions in.
    """
    confined = landlock.version() > 0
    if os.geteuid() == 0 and not confined:
        raise Misconfigured("grade", str(say("grading.root")), str(say("grading.no_root")))
    found = submissions.find(wish.places)
    with claimed(wish.out):
        return _grade(wish, found, confined=confined)


def _grade(wish: Wish, found: Sequence[Submission], *, confined: bool) -> int:
    seed = assignments_seed() if wish.seed is None else wish.seed
    books = Books(wish.out, {"seed": seed, "confined": confined})
    books.open()
    tasks = _left(found, books, wish, seed)
    out.outlives_its_reader = True
    known = len(found) - len(tasks)
    out.print(str(say("grading.head", total=len(found), known=known, seed=seed, jobs=wish.jobs)))
    if not confined:
        out.print(str(say("grading.not_confined")), style="yellow")
    screen = Screen(out, len(tasks))
    with _work(wish, seed, tasks) as news, screen.shown():
        for event in news:
            if isinstance(event, _Ended):
                books.add(event.record, event.task.key, event.seconds)
                screen.end(event.record)
            else:
                screen.begin(event.submission.name)
    books.write()
    _export(books.records, wish)
    show_result(out, books.records, str(wish.out), confined=confined)
    lost = any(flags.LOST in record.flags for record in books.records)
    return ENVIRONMENT if lost else PASSED


def assignments_seed() -> int:
    """Return the seed that belongs to this assignment: always the same, and not the one a learner has by default."""
    seed = int.from_bytes(_digest(kit_root() / "solution").digest()[:4]) % 1_000_000
    return seed if seed != DEFAULT_SEED else seed + 1


def _left(found: Sequence[Submission], books: Books, wish: Wish, seed: int) -> list[_Task]:
    """Return what has to be judged: all, but for what is known."""
    how = _digest(*(kit_root() / folder for folder in ("selfcheck", "src", "solution")))
    how.update(msgspec.json.encode((seed, wish.limits)))
    tasks = []
    for submission in found:
        contents = submission.read()
        noted = " ".join(contents.flags)
        key = hashlib.sha256(f"{how.hexdigest()} {contents.fingerprint} {noted}".encode()).hexdigest()
        if wish.fresh or not books.recall(submission.name, key):
            tasks.append(_Task(submission, key))
    return tasks


def _digest(*folders: Path) -> "hashlib._Hash":
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest


@contextmanager
def _work(wish: Wish, seed: int, tasks: Sequence[_Task]) -> "Iterator[Iterator[_Task | _Ended]]":
    """Judge, and give what begins and what ends, as it does. Whatever becomes of the block, nothing stays behind."""
    if not tasks:
        yield iter(())
        return
    with users(min(wish.jobs, len(tasks))) as nobodys:
        base = Path(tempfile.mkdtemp(prefix="koda-grade-"))
        copy = base / "house"
        places = (Place(number, str(base), str(copy), user, wish.limits, seed) for number, user in enumerate(nobodys))
        held = [Held(place) for place in places]
        try:
            for warden in held:
                warden.start()  # they load while the house is built
            house.build(copy)
            _try_solution(held[0], base)
            yield _news(held, tasks, base)
        finally:
            _all_at_once(held)
            shutil.rmtree(base, ignore_errors=True)


def _try_solution(warden: Held, base: Path) -> None:
    """Have the solution judged first: where that does not pass, nobody's marks would mean anything.

    Raises:
        Misconfigured: it does not, for want of memory or for whatever reason.
    """
    record = _judged(warden, Submission("solution", kit_root() / "solution"), base)
    for check in record.checks:
        if check["status"] != State.PASSED:
            problem = say("grading.solution_fails", number=str(check["id"]), actual=str(check["actual"]))
            raise Misconfigured("grade", str(problem), str(say("grading.see_run")))


def _news(held: Sequence[Held], tasks: Sequence[_Task], base: Path) -> "Iterator[_Task | _Ended]":
    waiting: queue.SimpleQueue[_Task] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    told: queue.SimpleQueue[_Task | _Ended | BaseException] = queue.SimpleQueue()
    for warden in held:
        threading.Thread(target=_judge_on, args=(warden, waiting, told.put, base), daemon=True).start()
    left = len(tasks)
    while left:
        event = told.get()
        if isinstance(event, BaseException):
            raise event
        left -= isinstance(event, _Ended)
        yield event


def _judge_on(
    warden: Held,
    waiting: "queue.SimpleQueue[_Task]",
    tell: "Callable[[_Task | _Ended | BaseException], None]",
    base: Path,
) -> None:
    """Have one submission after the other judged, in a thread of its own, while there are any."""
    try:
        while not warden.is_closed:
            task = waiting.get_nowait()
            tell(task)
            began = time.monotonic()
            tell(_Ended(task, _judged(warden, task.submission, base), time.monotonic() - began))
    except queue.Empty:
        return
    except BaseException as error:  # in whose thread nobody would see it
        tell(error)


def _judged(warden: Held, submission: Submission, base: Path) -> Record:
    room = Path(tempfile.mkdtemp(dir=base, prefix="room-"))
    try:
        contents = submission.read()  # once more: two hundred of them are not kept in memory
        contents.write(room / "tree")
        said = list(warden.carry_out(Order(str(room))))
        return compose(submission.name, warden.seed, contents.flags, said)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _all_at_once(held: Sequence[Held]) -> None:
    threads = [threading.Thread(target=warden.close) for warden in held]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _export(records: Sequence[Record], wish: Wish) -> None:
    try:
        if wish.junit is not None:
            write_whole(wish.junit, exports.junit(records))
        if wish.gradescope:
            folder = wish.out / "gradescope"
            folder.mkdir(exist_ok=True)
            for record in records:
                write_whole(folder / f"{record.name}.json", exports.gradescope(record))
    except OSError as error:
        problem = str(say("grading.cannot_write", folder=str(error.filename or ""), problem=error.strerror or ""))
        raise Misconfigured("--junit", problem, str(say("grading.name_a_folder"))) from error
