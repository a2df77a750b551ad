"""The names of our keys. The braces are real: one run's keys share a slot."""

from shared.ports import Mark


class Keys:
    """The keys of one installation; `prefix` begins them all."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.input = f"{prefix}:in"

    def output(self, run_id: str) -> str:
        """The run's output stream."""
        return f"{self.prefix}:out:{{{run_id}}}"

    def fence(self, run_id: str) -> str:
        """The highest attempt that has written, or may write, to the run's output stream."""
        return f"{self.prefix}:fence:{{{run_id}}}"

    def mark(self, run_id: str, mark: Mark) -> str:
        """One mark of the run."""
        return f"{self.prefix}:mark:{{{run_id}}}:{mark}"

    def wake(self, reader: str) -> str:
        """The stream that a reader blocks on beside those of its runs."""
        return f"{self.prefix}:wake:{reader}"
