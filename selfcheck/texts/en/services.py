"""The parts of the system that may be away or want something mended, as errors name them."""

from typing import Final

TEXTS: Final = {
    "bus": "bus",
    "store": "store",
    "gateway": "gateway",
    "service": "service",
    "services": "services",
    "exercises": "exercises",
    "settings": "settings",
    "kit": "kit",
}
