"""The kit that is proved: its folder, and what lies in its `tests/`, which is not installed with the command."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from selfcheck import texts
from shared.events import Json


class Mutant(Protocol):
    """A submission of the catalogue: `tests/mutants/submission.py` says what its fields mean."""

    @property
    def name(self) -> str:
        """Its own."""
        ...

    @property
    def exercise(self) -> int:
        """The exercise that is rewritten in it."""
        ...

    @property
    def caught_by(self) -> tuple[int, ...]:
        """The checks that must see it; none when it is right."""
        ...

    @property
    def states(self) -> Sequence[str]:
        """What these checks may say."""
        ...

    @property
    def recognised_as(self) -> tuple[str, ...]:
        """By which symptoms it may be called."""
        ...


class Judged(Protocol):
    """What became of one."""

    @property
    def checks(self) -> Mapping[int, Mapping[str, Json]]:
        """The results by check."""
        ...


class Catalogue(Protocol):
    """`tests/mutants/catalog.py`."""

    MISTAKES: Sequence[Mutant]
    BROKEN: Sequence[Mutant]
    HOSTILE: Sequence[Mutant]
    VARIANTS: Sequence[Mutant]

    write: Callable[[Mutant, Path], Path]


class Complaints(Protocol):
    """`tests/mutants/complaint.py`."""

    complaint: Callable[[Mutant, Judged], str]


class Judging(Protocol):
    """`tests/support/judging.py`."""

    Judged: "Callable[[int, str, str, Mapping[str, Json], float, Sequence[str]], Judged]"


class Golden(Protocol):
    """`tests/support/golden.py`."""

    SCREENS: Sequence[tuple[str, str, str]]
    FOLDER: Path

    def printed(self, folder: Path, tree: str, lang: str, colour: str, /) -> str:
        """Return what is printed, made in a folder that is not there yet."""
        ...

    def file_of(self, tree: str, lang: str, colour: str, /) -> Path:
        """Return where it is kept."""
        ...


@dataclass(frozen=True, slots=True)
class Kit:
    """Where the kit's parts are: `root` holds both trees, and `tests/` when it is a checkout."""

    root: Path
    texts: Path = Path(texts.__file__).parent

    @property
    def has_tests(self) -> bool:
        """Whether there is a catalogue of submissions, and screens to compare with."""
        return (self.root / "tests" / "mutants" / "catalog.py").is_file()

    def catalogue(self) -> Catalogue:
        """Return the submissions."""
        return cast("Catalogue", self._load("tests.mutants.catalog"))

    def complaints(self) -> Complaints:
        """Return what tells whether a submission was judged as it should be."""
        return cast("Complaints", self._load("tests.mutants.complaint"))

    def judging(self) -> Judging:
        """Return what a verdict is put into to be looked at."""
        return cast("Judging", self._load("tests.support.judging"))

    def golden(self) -> Golden:
        """Return what makes the screens, and has them."""
        return cast("Golden", self._load("tests.support.golden"))

    def _load(self, name: str) -> ModuleType:
        if "tests" not in sys.modules:
            # A folder that is no package is taken only when nothing that is installed has its name, and some have.
            package = ModuleType("tests")
            package.__path__ = [str(self.root / "tests")]
            sys.modules["tests"] = package
        return importlib.import_module(name)
