"""Processes beside the server under measurement: each carries out one job at a time and says how it came out.

A job is a coroutine function, given as a `functools.partial` of a module's function. It gets a `Line` to this process:
what it says on the way ("attached"), and what it is told.
"""

import asyncio
import multiprocessing
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import TypeAlias, TypeVar

import uvloop

T = TypeVar("T")

ANSWER_S = 120.0
"""Longer than any job takes; a bench that hangs is ended by this."""


class Line:
    """A job's end of the pipe."""

    def __init__(self, pipe: "Connection[object, object]") -> None:
        self._pipe = pipe

    def say(self, word: str) -> None:
        """Tell the bench how far the job has come."""
        self._pipe.send(word)

    async def told(self) -> object:
        """Wait for the bench's word."""
        return await asyncio.get_running_loop().run_in_executor(None, self._pipe.recv)


Job: TypeAlias = Callable[[Line], Coroutine[None, None, T]]


class Child:
    """A process that carries out jobs. Close it; it ends with this process in any case."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    def begin(self, job: Job[object]) -> None:
        """Start a job."""
        self._pipe.send(job)

    def hear(self, word: str) -> None:
        """Return when the job has said this word."""
        heard = self._next()
        assert heard == word, heard

    def tell(self, word: object) -> None:
        """Tell the job something."""
        self._pipe.send(word)

    def result(self, kind: type[T]) -> T:
        """Return what the job has returned."""
        result = self._next()
        assert isinstance(result, kind), result
        return result

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()

    def _next(self) -> object:
        assert self._pipe.poll(ANSWER_S), "no answer: the job hangs"
        said: object = self._pipe.recv()
        if isinstance(said, BaseException):
            raise said
        return said


def _work(pipe: "Connection[object, object]") -> None:
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        assert callable(job), job
        try:
            pipe.send(uvloop.run(job(Line(pipe))))
        except Exception as fault:
            pipe.send(RuntimeError(f"{type(fault).__name__}: {fault}"))
