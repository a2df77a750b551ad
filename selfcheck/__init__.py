"""The self-check: a judge, and the service it starts in a process of its own."""
