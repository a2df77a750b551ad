"""Experiments: one promise of the house broken on purpose, and what that looks like on real output.

Each plays one scenario on two services, started as the judge starts its own: one as it is, and one in which a single
part was replaced where the service is composed. Nothing of what is shown is made up.
"""

from typing import Final

NAMES: Final = (
    "consumer-group",
    "seq-reset",
    "stream-without-store",
    "store-without-stream",
    "no-terminal-states",
    "unbounded-buffer",
)
"""The experiments, in the order in which they build on each other. The module of each has its name, underlined."""
