"""The house: a copy of what a judged service loads, so that nothing in its process points to the kit.

Of `selfcheck` it holds the modules that the service imports and no other: neither the checks, which know the right
answers, nor the hints.
"""

import compileall
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

_BUSINESS: Final = ("shared", "gateway", "worker")
# Bytecode names the place that it was made of.
_UNUSED: Final = ("__pycache__", "*.pyx", "*.pxd", "*.pyi", "*.c", "*.h", "tests")
_SERVICES: Final = ("redis", "postgres")  # adapters that no service in memory loads
_SAYS: Final = re.compile(r"\bsay\(\s*\"(\w+)\.")

_LIST: Final = """
import sys
before = {*sys.modules}
import ctypes, asyncio, shared.exercises, shared.adapters
import selfcheck.grading.cell, selfcheck.service, selfcheck.lab.compose
try:
    import uvloop
except ImportError:
    pass
import uvicorn.loops.auto, uvicorn.protocols.http.auto
import json
modules = {name: getattr(module, "__file__", None) for name, module in sys.modules.items() if name not in before}
std = sys.stdlib_module_names
print(json.dumps({name: file for name, file in modules.items() if file and name.partition(".")[0] not in std}))
"""


def python() -> str:
    """Return the interpreter that a service runs on: the one below a virtual environment, which may lie in the kit."""
    return getattr(sys, "_base_executable", None) or sys.executable


def build(folder: Path) -> Path:
    """Copy all that a service in memory loads into a folder that is not there yet, and return the folder."""
    listed = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _LIST], check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    files = msgspec.json.decode(listed.stdout, type=dict[str, str])
    folder.mkdir()
    for name in dict.fromkeys(module.partition(".")[0] for module in files):
        if name != "selfcheck":
            _copy_package(name, Path(files[name]), folder)
    ours = [module for module in files if module.partition(".")[0] == "selfcheck"]
    _copy_modules(ours, files, folder)
    compileall.compile_dir(folder, quiet=2)  # once, and not in each of a thousand services, which cannot write it
    return folder


def _copy_package(name: str, file: Path, folder: Path) -> None:
    if file.name.startswith("__init__."):
        ignored = (*_UNUSED, *_SERVICES) if name in _BUSINESS else _UNUSED
        shutil.copytree(file.parent, folder / name, ignore=shutil.ignore_patterns(*ignored))
    else:
        shutil.copy2(file, folder)


def _copy_modules(modules: Iterable[str], files: dict[str, str], folder: Path) -> None:
    areas: set[str] = set()
    for module in modules:
        file = Path(files[module])
        _copy_module(file, folder.joinpath(*module.split(".")), folder)
        areas.update(_SAYS.findall(file.read_text("utf-8")))
    texts = Path(files["selfcheck"]).parent / "texts" / "en"
    for area in sorted({"__init__", *areas}):  # what the service itself says, it says in English
        if (texts / f"{area}.py").exists():
            _copy_module(texts / f"{area}.py", folder / "selfcheck" / "texts" / "en" / area, folder)


def _copy_module(file: Path, at: Path, folder: Path) -> None:
    target = at / file.name if file.name == "__init__.py" and at.name != "__init__" else at.parent / file.name
    assert target.is_relative_to(folder), "a module's name has no other parts"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, target)
