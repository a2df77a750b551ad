"""Write the golden screens of the tests anew. What has changed is then to be seen in the difference."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]


def main() -> None:
    """Run the self-check on each tree and keep what it prints."""
    from tests.support.golden import FOLDER, SCREENS, file_of, printed

    FOLDER.mkdir(exist_ok=True)
    for stale in FOLDER.iterdir():
        stale.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for screen in SCREENS:
            file_of(*screen).write_text(printed(Path(folder) / ".".join(screen), *screen), "utf-8")


if __name__ == "__main__":
    main()
