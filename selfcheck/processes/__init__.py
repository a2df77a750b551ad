"""Processes of a service, from outside: start, listen, end, and leave nothing behind."""
