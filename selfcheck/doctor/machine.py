"""The machine: Python, packages, ports, and the place for what is remembered."""

import os
import platform
import re
import socket
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from selfcheck.doctor.remark import Remark, bad, good, missing
from selfcheck.home import home
from selfcheck.texts import say
from shared.foreign import shown

PROJECT: Final = "koda-lab"
OLDEST: Final = (3, 11)
SERVE_PORT: Final = 8000

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"](\w+)['\"]")
_OTHER_SYSTEM = re.compile(r"sys_platform\s*(==|!=)\s*['\"](\w+)['\"]")


def python(version: Sequence[int] | None = None) -> Iterator[Remark]:
    """Look at the interpreter."""
    version = version or sys.version_info[:3]
    told = f"{platform.python_implementation()} {'.'.join(map(str, version))}, {sys.executable}"
    if tuple(version[:2]) < OLDEST:
        yield bad("Python", told, say("doctor.python_remedy"))
    else:
        yield good("Python", told)
    alone = sys.prefix == sys.base_prefix
    yield good(say("doctor.environment"), say("doctor.no_venv") if alone else shown(Path(sys.prefix)))


def packages(requirements: Sequence[str] | None = None) -> Iterator[Remark]:
    """Look at what the project requires: what is needed is bad to lack, what an extra brings is only missing."""
    if requirements is None:
        try:
            requirements = metadata.requires(PROJECT) or []
        except metadata.PackageNotFoundError:
            yield bad(PROJECT, say("doctor.not_installed"), say("doctor.install_remedy", extra=""))
            return
    seen: set[str] = set()
    for requirement in requirements:
        specifier, _, marker = requirement.partition(";")
        name = _NAME.match(specifier)
        extra = _EXTRA.search(marker)
        if name is None or name[0] == PROJECT or not _for_us(marker) or (extra and extra[1] not in ("real", "test")):
            continue
        if name[0] in seen:  # by two extras
            continue
        seen.add(name[0])
        yield _package(name[0], specifier.strip(), extra[1] if extra else "")


def _for_us(marker: str) -> bool:
    other = _OTHER_SYSTEM.search(marker)
    return other is None or (other[1] == "==") == (other[2] == sys.platform)


def _package(name: str, wanted: str, extra: str) -> Remark:
    try:
        return good(wanted, metadata.version(name))
    except metadata.PackageNotFoundError:
        remedy = say("doctor.install_remedy", extra=f"[{extra}]" if extra else "")
        return (missing if extra else bad)(wanted, say("doctor.not_installed"), remedy)


def ports() -> Iterator[Remark]:
    """Look whether the service can listen: on any port, which is all that the checks need, and on that of `serve`."""
    for port in (0, SERVE_PORT):
        what = say("doctor.any_port") if port == 0 else say("doctor.serve_port", port=port)
        try:
            with socket.socket() as listener:
                if os.name == "posix":
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("127.0.0.1", port))
                listener.listen()
        except OSError as error:
            reason = error.strerror or str(error)
            if port == 0:
                yield bad(what, reason, say("doctor.any_port_remedy"))
            else:
                yield missing(what, reason, say("doctor.serve_port_remedy"))
        else:
            yield good(what, say("doctor.free"))


def memory() -> Iterator[Remark]:
    """Look at the place where earlier runs and hints are remembered."""
    place = home()
    nearest = next(folder for folder in (place, *place.parents) if folder.exists())
    what = say("doctor.home")
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        yield good(what, shown(place))
    else:
        yield missing(what, say("doctor.not_writable", place=shown(place)), say("doctor.home_remedy"))


def system() -> str:
    """Return the operating system in a few words."""
    return f"{platform.system()} {platform.release()}, {sysconfig.get_platform()}, CPU {os.cpu_count()}"
