"""The states of a check."""

from typing import Final

TEXTS: Final = {
    "passed": "passed",
    "todo": "to do",
    "failed": "failed",
    "blocked": "blocked",
    "crashed": "crashed",
    "hung": "hung",
    "environment": "environment",
}
