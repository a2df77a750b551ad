"""What an experiment is: a scenario, played on a service as it is and on one that is broken, and what to look at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Final, TypeVar

from rich.console import RenderableType

from selfcheck.experiments import NAMES
from selfcheck.experiments.places import SECOND
from selfcheck.playing.stage import Stage
from selfcheck.texts import Message, say

S = TypeVar("S")

MESSAGE: Final = "My lamp arrived broken, I would like a refund."
CORRECTION: Final = "Actually, please make it an exchange."


@dataclass(frozen=True, slots=True)
class Ground:
    """What a scenario is played on: the judge's stage, and the addresses of the two gateways behind it."""

    stage: Stage
    url: str
    broken: bool

    @property
    def second(self) -> str:
        """The address of the second gateway."""
        return self.url + SECOND

    def open_run(self, session: str | None = None) -> str:
        """Send the message that begins each scenario, and return its run."""
        return self.stage.say(session or self.stage.new_session(), MESSAGE).run_id


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to look at, as it is and broken: side by side, each in `drawing.WIDTH` columns."""

    label: Message
    healthy: RenderableType
    broken: RenderableType
    legend: RenderableType | None = None  # what its symbols mean


def row(label: Message, sides: Iterable[RenderableType], legend: RenderableType | None = None) -> Row:
    """Return a row whose two sides, the healthy one first, were made in one go."""
    healthy, broken = sides
    return Row(label, healthy, broken, legend)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in the code: a file of the kit, and a class, a function or a method in it."""

    file: str
    name: str

    def __str__(self) -> str:
        """Return it as it is shown."""
        return f"{self.file}  {self.name}"


@dataclass(frozen=True)
class Experiment:
    """One experiment. Its words are in the catalogue, in an area of its own."""

    name: str
    compare: Callable[[Ground, Ground], Sequence[Row]]
    code: tuple[Pointer, ...]
    tests: tuple[Pointer, ...]  # that hold what is broken here
    check: int | None = None  # of the six, the one that would see it
    settings: Mapping[str, str] = field(default_factory=dict)
    broken_settings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def area(self) -> str:
        """The area of its texts."""
        return area_of(self.name)

    def said(self, name: str) -> Message:
        """Return one of its texts that has no places."""
        return say(f"{self.area}.{name}")


def area_of(name: str) -> str:
    """Return the area with an experiment's texts."""
    return f"experiments_{_module_of(name)}"


def find(name: str) -> Experiment:
    """Return an experiment by its name, one of `NAMES`."""
    assert name in NAMES, "whoever asks has looked"
    module = import_module(f"selfcheck.experiments.{_module_of(name)}")
    experiment: Experiment = module.EXPERIMENT
    return experiment


def both(play: Callable[[Ground], S], healthy: Ground, broken: Ground) -> tuple[S, S]:
    """Play a scenario on both services at once, and return what was seen on each."""
    pool = ThreadPoolExecutor(2)
    try:
        plays = [pool.submit(play, ground) for ground in (healthy, broken)]
        return plays[0].result(), plays[1].result()
    finally:
        # Who is interrupted does not wait: the services are ended next, and the plays end with them.
        pool.shutdown(wait=False, cancel_futures=True)


def _module_of(name: str) -> str:
    return name.replace("-", "_")
