"""What any command says on standard error about itself."""

from typing import Final

TEXTS: Final = {
    "stopped": "stopped",
    "cannot_show": "this terminal cannot show Chinese (its encoding is {encoding}): what follows is in English",
    "refused": "the system refuses something: {reason}",
    "away": "the {service} is away: {problem}",
    "misconfigured": "{service}: {problem}; {remedy}",
}
