"""The parts of `bench/socket.py`: readers of a session's line, front ends that are cut and return, measures, rows."""
