"""What a scenario and the service that it is played on have to agree about."""

from typing import Final

SECOND: Final = "/second"
"""Where the paths of the second gateway begin."""

LOST_SEQ: Final = 3
"""The event that the bus loses in `unbounded-buffer`."""

LONG_REPLY: Final = 2_000
"""Fragments of a reply there, as far as it is looked at: there is one more, so that the run does not end."""
