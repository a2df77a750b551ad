"""Packages of npm for tests, in exact versions and outside the tracked tree.

Where they cannot be had (no Node, a Node that is too old, no network), a test is skipped at home and fails in CI.
"""

import functools
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

import pytest

OLDEST_NODE: Final = 20
INSTALL_S: Final = 600.0
RUN_S: Final = 60.0

_FOLDER: Final = Path(__file__).parents[2] / ".selfcheck" / "npm"


class Missing(Exception):
    """Node or a package cannot be had; the text says why."""


def run_node(program: Path, packages: tuple[str, ...], *arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run an ES module that may import `packages` ("name@version" each) and return what it prints.

    It is ended after `RUN_S`; that, or an exit code that is not 0, fails the test with what it wrote to standard error.
    """
    try:
        node, folder = _node(), _install(packages)
    except Missing as missing:
        _do_without(str(missing), capsys)
    # From standard input, so that imports are looked up in the folder of the packages and not beside the program.
    command = [node, "--input-type=module", "-", *arguments]
    try:
        answer = subprocess.run(
            command, cwd=folder, input=program.read_bytes(), capture_output=True, timeout=RUN_S, check=False
        )
    except subprocess.TimeoutExpired as expired:
        pytest.fail(f"{program.name} had not ended after {RUN_S:.0f} s: {expired.stderr!r}")
    assert answer.returncode == 0, answer.stderr.decode()
    return answer.stdout.decode()


def _do_without(reason: str, capsys: pytest.CaptureFixture[str]) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    with capsys.disabled():
        print(f"\nskipped: {reason}")  # noqa: T201  # a skip that nobody sees is taken for a pass
    pytest.skip(reason)


@functools.cache
def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise Missing(f"Node is not installed; version {OLDEST_NODE} or later is needed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=RUN_S, check=True).stdout
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        raise Missing(f"Node is {version.strip()}; version {OLDEST_NODE} or later is needed")
    return node


@functools.cache
def _install(packages: tuple[str, ...]) -> Path:
    """Return a folder with the packages in it. It is made once, and appears whole: two test runs may meet here."""
    folder = _FOLDER / "+".join(packages).replace("/", "_")
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("npm is not installed")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_FOLDER, prefix="new-") as name:
        fresh = Path(name) / "packages"
        fresh.mkdir()
        # No scripts: nothing that is installed here has to be built, so nothing of it runs before the test does.
        command = [npm, "install", "--prefix", str(fresh), "--save-exact", "--ignore-scripts", "--prefer-offline"]
        command += ["--fetch-retries=5", "--no-audit", "--no-fund", "--no-update-notifier", *packages]
        try:
            done = subprocess.run(command, cwd=fresh, capture_output=True, text=True, timeout=INSTALL_S, check=False)
        except subprocess.TimeoutExpired:
            raise Missing(f"npm had not installed {', '.join(packages)} after {INSTALL_S:.0f} s") from None
        if done.returncode != 0:
            raise Missing(f"npm could not install {', '.join(packages)}: {done.stderr.strip()[-500:]}")
        with suppress(OSError):  # the other test run was faster
            fresh.rename(folder)
    return folder
