"""A copy of what installs the kit, in a folder of its own, on a machine where every program is a stub.

No stub does anything but write down how it was called, so a test sees what would have happened, and nothing is
installed. The folder's name has a space in it, as folders on people's machines have.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.processes import ROOT

SCRIPTS: Final = ("Makefile", "scripts/find-python.sh", "scripts/install.sh", ".ci/run")
COPIED: Final = (*SCRIPTS, "pyproject.toml", "constraints.txt")
TOOLS: Final = ("make", "sh", "awk", "cat", "chmod", "cp", "dirname", "echo", "env", "find", "mkdir", "rm", "touch")

CALLS: Final = (
    'printf "%s" "${0##*/}" >>"$CALLS"; for each; do printf " <%s>" "$each" >>"$CALLS"; done; echo >>"$CALLS"'
)

# An interpreter answers what is asked of it before an installation, and makes virtual environments that do the same.
PYTHON: Final = """#!/bin/sh
case "$*" in
    *version_info\\[:3\\]*) echo {version}; exit {too_old} ;;
    *ensurepip*) exit {no_venv} ;;
    *"import pip"*) exit 0 ;;
    "-m venv .venv") sh "$STUBS/make-venv" ;;
esac
{calls}
case "$*" in *"$FAILING"*) exit ${{FAILING:+1}} ;; esac
"""

TOOL: Final = """#!/bin/sh
{calls}
env >"$CALLS.environment"
"""

UV: Final = """#!/bin/sh
{calls}
case "$*" in venv*) sh "$STUBS/make-venv" ;; esac
"""

MAKE_VENV: Final = """
mkdir -p .venv/bin
cp "$STUBS/venv-python" .venv/bin/python
for tool in selfcheck ruff; do cp "$STUBS/tool" .venv/bin/$tool; done
"""


@dataclass(frozen=True, slots=True)
class Made:
    """What came of one call of make: its exit code, what it printed, and the programs that it called."""

    code: int
    out: str
    err: str
    calls: list[str]


class Kit:
    """The folder, and the stubs that are the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a kit"
        self._programs = folder / "programs"
        self._stubs = folder / "stubs"
        self._calls = folder / "calls"
        for name in COPIED:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        self._programs.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found is not None, f"{tool} is on every machine that has make"
            (self._programs / tool).symlink_to(found)
        self._stubs.mkdir()
        _write(self._stubs / "make-venv", MAKE_VENV)
        _write(self._stubs / "tool", TOOL.format(calls=CALLS))
        _write(self._stubs / "venv-python", _python("3.12.1"))

    def python(self, name: str, version: str, *, venv: bool = True) -> None:
        """Install an interpreter."""
        _write(self._programs / name, _python(version, venv=venv))

    def uv(self) -> None:
        """Install uv."""
        _write(self._programs / "uv", UV.format(calls=CALLS))

    def tool(self, name: str) -> None:
        """Install a tool that does nothing, in place of the machine's if it has one."""
        (self._programs / name).unlink(missing_ok=True)
        _write(self._programs / name, TOOL.format(calls=CALLS))

    def make(self, *arguments: str, failing: str = "") -> Made:
        """Call make. A call of an interpreter that has `failing` in it fails."""
        return self._call("make", *arguments, failing=failing)

    def prove(self) -> Made:
        """Do what is done for every change, from another folder than the kit's."""
        bash = shutil.which("bash")
        assert bash is not None, "a machine that proves changes has it"
        return self._call(bash, str(self.folder / ".ci" / "run"), folder=self._stubs)

    def _call(self, *command: str, failing: str = "", folder: Path | None = None) -> Made:
        self._calls.write_text("")
        environment = {"PATH": str(self._programs), "STUBS": str(self._stubs), "CALLS": str(self._calls)}
        done = subprocess.run(
            command, cwd=folder or self.folder, env={**environment, "FAILING": failing},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Made(done.returncode, done.stdout, done.stderr, self._calls.read_text().splitlines())

    def environment(self, *names: str) -> list[str]:
        """Return the values of variables that the last tool had in its environment, "" where there was none."""
        lines = Path(f"{self._calls}.environment").read_text().splitlines()
        values = {name: value for name, _, value in (line.partition("=") for line in lines)}
        return [values.get(name, "") for name in names]

    def change(self, name: str) -> None:
        """Let a file be one second newer than everything that has been installed."""
        newest = max(stamp.stat().st_mtime for stamp in (self.folder / ".venv").glob(".with-*"))
        os.utime(self.folder / name, (newest + 1, newest + 1))

    def move(self) -> None:
        """Move the folder."""
        self.folder = self.folder.rename(self.folder.with_name("another place"))


def complaint(made: Made) -> str:
    """Return the sentence with which make refused, having made sure that nothing else was said or done."""
    assert (made.code, made.out, made.calls) == (2, "", [])
    match = re.fullmatch(r"Makefile:\d+: \*\*\* (.*)\.  Stop\.\n", made.err)
    assert match is not None, made.err
    return match[1]


def _python(version: str, *, venv: bool = True) -> str:
    too_old = int(tuple(map(int, version.split("."))) < (3, 11))
    return PYTHON.format(version=version, too_old=too_old, no_venv=int(not venv), calls=CALLS)


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
