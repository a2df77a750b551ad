"""Write `docs/screens` anew, and the screens that the READMEs show. Run it as `make screens`, after `make golden`."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]


def main() -> None:
    """Play each scene in both languages, and keep what is to be seen."""
    from tests.support.screens import ALL, FOLDER, READMES, Screen, file_of, screen, with_screens

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as two:

        def played(at: int) -> Screen:
            return screen(*ALL[at], Path(folder) / str(at))

        screens = [*two.map(played, range(len(ALL)))]
    for stale in FOLDER.iterdir():
        stale.unlink()
    for named, made in zip(ALL, screens, strict=True):
        file_of(*named, "txt").write_text(made.text, "utf-8")
        file_of(*named, "svg").write_text(made.svg, "utf-8")
    for lang, readme in READMES.items():
        readme.write_text(with_screens(readme.read_text("utf-8"), lang), "utf-8")


if __name__ == "__main__":
    main()
