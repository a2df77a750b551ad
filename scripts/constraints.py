"""Write `constraints.txt` anew: the newest version of everything that an installation of any kind may need.

Run it as `make constraints`. pip decides for the machine it runs on; what only other machines need is named here, and a
test compares the file with what the installed packages say they need, for every machine.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

ELSEWHERE: Final = (
    "async-timeout",  # redis, on Python 3.11.0 to 3.11.2
    "colorama",  # pytest and typer, on Windows
    "tzdata",  # psycopg, on Windows
)

EDITABLE: Final = "editables"  # what hatchling asks for when it installs a checkout


def main() -> None:
    """Ask pip what it would install into an empty environment, and keep names and versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [".[dev]", *project["build-system"]["requires"], EDITABLE, *ELSEWHERE]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    report = json.loads(subprocess.run([*command, *wanted], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)  # noqa: S603
    chosen = {item["metadata"]["name"]: item["metadata"]["version"] for item in report["install"]}
    del chosen[project["project"]["name"]]
    lines = [f"{name}=={version}\n" for name, version in sorted(chosen.items(), key=lambda pair: pair[0].lower())]
    (ROOT / "constraints.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
