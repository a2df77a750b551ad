"""One play of one check: what it does, on what, and what it sees."""
