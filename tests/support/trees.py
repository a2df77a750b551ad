"""Copies of trees."""

import shutil
from pathlib import Path


def copied(tree: Path, place: str | Path) -> Path:
    """Copy a tree's files over what is there. What Python keeps beside them may come and go meanwhile."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(tree, place, ignore=ignored, dirs_exist_ok=True))
