"""Text that every part of the system can hold.

Neither UTF-8 nor PostgreSQL can hold all that a Python string can: a lone surrogate cannot be encoded, NUL cannot be
stored. Both become U+FFFD, the replacement character, at the two doors: a user's message and a model's fragment.
"""

import re

REPLACEMENT = "\ufffd"

_UNHOLDABLE = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def clean(text: str) -> str:
    """Return `text` with surrogate pairs joined to their character and everything unholdable replaced by U+FFFD."""
    if text.isascii() and "\x00" not in text:
        return text
    joined = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _UNHOLDABLE.sub(REPLACEMENT, joined)


class SurrogateJoiner:
    """Clean a text that comes in fragments, joining the two halves of an emoji that were split between them.

    Feed fragments in order; what comes back may be shorter by one held half. `flush` at the end of the text returns
    what is held (as U+FFFD, for its other half never came) or "".
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, fragment: str) -> str:
        """Return the cleaned text that is complete by now."""
        text = self._held + fragment
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._held = text[-1]
            text = text[:-1]
        return clean(text)

    def flush(self) -> str:
        """Return and forget the half that was held."""
        held, self._held = self._held, ""
        return clean(held)
