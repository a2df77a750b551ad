"""How the server of a model says no: a status, an error object, or an error in the middle of its stream."""

import json
from typing import Final

from shared.events import Json

_PASSING: Final = frozenset({408, 409, 425, 429})  # of the 4xx, those that say "not now"
_STATUSES: Final = range(400, 600)
_WRITTEN: Final = frozenset(map(str, _STATUSES))


class Refused(Exception):
    """A model's server did not do its part. `problem` and `permanent` are those of `ModelFailed`.

    `said` is what the server sent, for the log. It may quote anything, the key too: shorten and redact it first.
    """

    def __init__(self, problem: str, said: str = "", *, permanent: bool = False) -> None:
        self.problem = problem
        self.said = said
        self.permanent = permanent
        super().__init__(problem)


def is_permanent(status: int) -> bool:
    """Whether an HTTP status says that the same request will get the same answer (a redirect we follow to nobody)."""
    return status < 500 and status not in _PASSING


def error_in(answer: Json) -> Json:
    """Return the error that an answer, or one chunk of it, reports; None when it reports none."""
    if not isinstance(answer, dict):
        return None
    # {"error": …} is what nearly all send; vLLM sent the error itself, marked by its `object`.
    return answer if answer.get("object") == "error" else answer.get("error") or None


def refusal_for(error: Json) -> Refused:
    """Return the refusal for an error that came inside a stream, where there is no status beside it."""
    return Refused("the model's server reported an error", message_of(error), permanent=_repeats(error))


def message_of(error: Json) -> str:
    """Return what an error says, in the server's words."""
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(error)


def _repeats(error: Json) -> bool:
    """Whether an error says that asking again is no use: by the status it names, else by its type."""
    if not isinstance(error, dict):
        return False
    code = error.get("code")
    status = int(code) if isinstance(code, str) and code in _WRITTEN else code
    if isinstance(status, int) and status in _STATUSES:
        return is_permanent(status)
    return error.get("type") == "invalid_request_error"
