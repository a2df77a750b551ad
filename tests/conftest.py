"""What is settled before any test: that Ctrl-C is one.

Whoever is started with `&` in a script, or by a CI's runner, may have been told to ignore SIGINT, and so is all that it
starts. The tests that press Ctrl-C would then wait for a program that is in the right to go on.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
