"""What Typer says of a command line. Recognised, line by line, where it does."""

from typing import Final

TEXTS: Final = {
    "usage": "Usage: {usage}",
    "arguments": "Arguments:",
    "options": "Options:",
    "commands": "Commands:",
    "help_row": "{option}  Show this message and exit.",
    "default": "default: {value}",
    "required": "required",
    "try_help": "Try '{command}' for help.",
    "error": "Error: {problem}",
    # problems
    "no_option": "No such option: {option}",
    "no_option_but": "No such option: {option} (Possible options: {options})",
    "no_command": "No such command {command}.",
    "no_command_but": "No such command {command}. Did you mean {commands}?",
    "no_value": "Option {option} does not take a value.",
    "needs_value": "Option {option} requires an argument.",
    "missing_argument": "Missing argument {argument}.",
    "missing_option": "Missing option {option}.",
    "missing_command": "Missing command.",
    "extra": "Got unexpected extra argument(s) ({arguments})",
    "invalid": "Invalid value for {option}: {problem}",
    "too_big": "Input should be less than or equal to {most}",
    "too_small": "Input should be greater than or equal to {least}",
    "no_integer": "Input should be a valid integer, unable to parse string as an integer",
    "not_one_of": "{value} is not one of: {choices}",
}
