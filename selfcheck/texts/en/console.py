"""What any command says on standard error about itself."""

from typing import Final

TEXTS: Final = {
    "stopped": "stopped",
    "refused": "the system refuses something: {reason}",
    "away": "the {service} is away: {problem}",
    "misconfigured": "{service}: {problem}; {remedy}",
}
