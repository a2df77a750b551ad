"""Putting an exercise back."""

from typing import Final

TEXTS: Final = {
    "nobody_to_ask": "there is no terminal to ask in; say --yes if you mean it",
    "nothing_to_do": "Exercise {number} in {file} is as it came: nothing to put back.",
    "ask": "Put exercise {number} in {file} back like this? A copy is kept. y or Enter",
    "left": "{file} stays as it is.",
    "done": "Exercise {number} in {file} is as it came.",
    "copy": "Your file as it was: {copy}",
}
