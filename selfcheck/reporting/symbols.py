"""How the states of a check look: a symbol, one for terminals without it, a colour. No two share a symbol."""

from typing import Final

from selfcheck.results import State

SYMBOLS: Final = {
    State.PASSED: ("✓", "+", "green"),
    State.TODO: ("○", "o", "yellow"),
    State.FAILED: ("✗", "x", "red"),
    State.BLOCKED: ("◌", "b", "cyan"),
    State.CRASHED: ("!", "!", "bold red"),
    State.HUNG: ("∞", "8", "bright_red"),
    State.ENVIRONMENT: ("?", "?", "magenta"),
}
