"""Ctrl-C before there is anything to be tidied up: one word, and the end."""

import subprocess
import sys

# Ctrl-C is pressed again in the worst moment: the word has been said, and the process has not ended yet.
IMPATIENT = """
import os, signal
from selfcheck import interrupts

interrupts.end_at_once()
write = os.write

def written(descriptor, said):
    count = write(descriptor, said)
    signal.raise_signal(signal.SIGINT)
    return count

os.write = written
signal.raise_signal(signal.SIGINT)
"""


def test_who_is_impatient_reads_one_word() -> None:
    """A second Ctrl-C that comes while the first one is answered is not answered, too."""
    done = subprocess.run([sys.executable, "-c", IMPATIENT], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")
