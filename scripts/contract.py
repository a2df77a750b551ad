"""Write `docs/line.schema.json` anew, from the types in `src/shared/contract`. Run it as `make contract`."""

from pathlib import Path
from typing import Final

from shared.contract.frames import schema

ROOT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = ROOT / "docs" / "line.schema.json"

if __name__ == "__main__":
    TARGET.write_text(schema(), encoding="utf-8")
