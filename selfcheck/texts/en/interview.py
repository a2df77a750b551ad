"""The interview's own words."""

from typing import Final

TEXTS: Final = {
    "welcome": "Questions: {count}. Answer aloud or on paper; then see what a good answer has in it. q ends it.",
    "number": "Question {number} of {count}: {name}",
    "answer_first": "Answer it, then press Enter.",
    "think": "How to think about it",
    "on_to_points": "Anything to add? Then press Enter for the key points.",
    "points": "Key points",
    "had_it": "Did you have it? y or Enter",
    "had": "You had {had} of {points}.",
    "further": "Likely to be asked next",
    "code": "In the code",
    "see": "See it",
    "score": "What you had",
    "column_name": "question",
    "column_had": "now",
    "column_best": "best",
    "unknown": "there is no question {name}; the names are: {names}",
}
