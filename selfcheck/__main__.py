"""`python -m selfcheck`: the same as the command `selfcheck`."""

from selfcheck.entry import main

main()
