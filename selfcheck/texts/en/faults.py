"""What errors say, here and in services: problems and remedies. Recognised where they come back as text."""

from typing import Final

TEXTS: Final = {
    "not_there": "is not there",
}
