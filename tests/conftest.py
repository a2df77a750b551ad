"""What is settled before any test: that Ctrl-C is one, and that settings and screens are what they are by themselves.

Whoever is started with `&` in a script, or by a CI's runner, may have been told to ignore SIGINT, and so is all that it
starts. The tests that press Ctrl-C would then wait for a program that is in the right to go on.

Whoever tries the lab with settings of their own has them in the environment, and so does a CI that wants colours.
"""

import os
import signal
from typing import Final

SHOWN_BY: Final = {"COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}

for name in [*os.environ]:
    if name in SHOWN_BY or name.startswith("KODA_"):
        del os.environ[name]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
