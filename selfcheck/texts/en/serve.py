"""What `serve` says: where the service is, and what to try with it."""

from typing import Final

TEXTS: Final = {
    "runs": "The service runs on {url} with the exercises of {tree}, in memory. Ctrl-C ends it.",
    "send": "send a message; the answer names the run",
    "watch": "watch a run, from its beginning",
    "resume": "resume after event 5",
    "stands_in": "{where} {problem}; the solution stands in",
}
