"""The cell: what code in it can and cannot do, held on this kernel."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from selfcheck.grading import house, landlock
from selfcheck.grading.cell import Cell
from selfcheck.grading.descendants import allowance
from selfcheck.grading.orders import MIB
from tests.support.judging import ROOT

ENTER = "import sys; sys.path += sys.argv[2:]; import msgspec; from selfcheck.grading import cell; cell.enter("
ENTER += "msgspec.json.decode(sys.argv[1], type=cell.Cell))\n"

TRY = """
def told(deed):
    try:
        return deed()
    except (OSError, MemoryError, ValueError) as error:
        return type(error).__name__
"""

needs_walls = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a house."""
    return house.build(tmp_path_factory.mktemp("grading") / "house")


def inside(built: Path, tree: Path, program: str, user: int = 0, memory: int = 256 * MIB) -> str:
    """Return what a program prints in a cell that may read a tree."""
    cell = Cell((str(built), str(tree)), memory, 5, allowance(16), user)
    command = [
        house.python(),
        "-S",
        "-s",
        "-P",
        "-B",
        "-c",
        f"{ENTER}{TRY}{program}",
        msgspec.json.encode(cell).decode(),
    ]
    done = subprocess.run([*command, str(built)], cwd=tree, capture_output=True, text=True, timeout=60, env={})
    assert done.stderr == ""
    return done.stdout.strip()


@needs_walls
@pytest.mark.parametrize("user", [0, 60_700] if os.geteuid() == 0 else [0])
def test_a_tree_is_read_and_nothing_else(user: int, built: Path, tmp_path: Path) -> None:
    """Neither the solution nor what other processes are, nor what lies beside the tree."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mine").write_text("mine")
    (tmp_path / "other").write_text("another's")
    paths = ["mine", "../other", str(ROOT / "solution" / "delivery.py"), "/proc/self/environ", "/etc/passwd"]
    program = f"print([told(lambda: open(path).read()) for path in {paths!r}])"
    denied = ["PermissionError"] * 4
    assert inside(built, tmp_path / "tree", program, user) == str(["mine", *denied])


@needs_walls
@pytest.mark.parametrize("user", [0, 60_700] if os.geteuid() == 0 else [0])
def test_nothing_is_written_executed_or_reached(user: int, built: Path, tmp_path: Path) -> None:
    """No file, not even an empty one; no program; no other server; no other process."""
    deeds = (
        "import os, socket\n"
        "def execute():\n"
        "    os.execv('/bin/true', ['true'])\n"
        "print(told(lambda: open('x', 'w')), told(lambda: os.mkdir('y')), told(execute),"
        " told(lambda: socket.create_connection(('127.0.0.1', 1))), told(lambda: os.kill(os.getppid(), 0)),"
        " told(lambda: socket.create_server(('127.0.0.1', 0)).getsockname()[0]))"
    )
    assert inside(built, tmp_path, deeds, user) == " ".join(["PermissionError"] * 5 + ["127.0.0.1"])
    assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_becomes_somebody_else(built: Path, tmp_path: Path) -> None:
    """In no group, with no way back."""
    program = "import os\nprint(os.getresuid(), os.getgroups(), told(lambda: os.setuid(0)))"
    assert inside(built, tmp_path, program, 60_700) == "(60700, 60700, 60700) [] PermissionError"


def test_memory_is_bounded(built: Path, tmp_path: Path) -> None:
    """Asking for more is refused."""
    program = "print(told(lambda: len(bytes(100 << 20))), told(lambda: len(bytes(400 << 20))))"
    assert inside(built, tmp_path, program) == f"{100 << 20} MemoryError"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads are no processes")
def test_processes_are_bounded(built: Path, tmp_path: Path) -> None:
    """Copies are refused after a while, and they all end with the one that made them."""
    program = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None)\n"
        "made = []\n"
        "while len(made) < 1000:\n"
        "    pid = libc.fork()\n"
        "    if pid == 0:\n        libc.pause()\n"
        "    if pid < 0:\n        break\n"
        "    made.append(pid)\n"
        "print(0 < len(made) < 1000, flush=True)\n"
        "for pid in made:\n    os.kill(pid, 9)\n"
    )
    user = 60_701 if os.geteuid() == 0 else 0
    assert inside(built, tmp_path, program, user) == "True"


def test_nothing_in_the_house_points_to_the_kit(built: Path) -> None:
    """Neither a text nor bytecode names the place that it was copied from, and no check and no hint is there."""
    kit = os.fsencode(ROOT)
    naming = [path for path in built.rglob("*.py*") if path.is_file() and kit in path.read_bytes()]
    assert naming == []
    ours = {path.relative_to(built / "selfcheck").parts[0] for path in (built / "selfcheck").rglob("*.py")}
    assert ours & {"checks", "hints", "symptoms", "pristine", "judge.py", "trees.py", "verdict.py"} == set()
