"""How a play of a check came out when the check itself had nothing to say: what was awaited, and what came instead."""

from typing import Final

TEXTS: Final = {
    # what was awaited
    "stream": "the stream of {run}",
    "stream_answered": "the stream of {run}, which answered {status}",
    "stored": "event {seq} of {run} in the store",
    "event": "event {seq} of {run}",
    "end": "the end of {run}",
    "lab": "the lab",
    "log_line": "the log line {event}",
    "answer": "the answer to {method} {route}",
    "answered": "an answer to {method} /{route}, which was {status}: {detail}",
    # rules
    "exercise_answers": "The exercise answers.",
    "exercise_returns": "The exercise returns.",
    "exercise_workable": "What exercise {number} does can be worked with.",
    "keeps_protocol": "The service keeps to its protocol.",
    "goes_on": "The service goes on.",
    "moves": "A run can move as the table says.",
    "loads": "The tree loads.",
    "defines": "A tree's file defines things and returns.",
    "service_answers": "The {service} answers.",
    # given, expected, actual
    "call": "a call by the service",
    "call_of": "a call by the service of exercise {number}",
    "import": "import of {file}",
    "an_answer": "an answer",
    "as_agreed": "an answer as agreed",
    "returns": "it returns",
    "does_not_return": "it does not return",
    "stopped_itself": "it stopped its own process",
    "returns_target": "returns {target}",
    "was_refused": "it was refused",
    "did_not_come": "it did not come",
    "runs_on": "it runs on",
    "broke_off": "it broke the connection off and runs on",
    "ended": "it ended with exit code {code}",
    "process_ended": "the process ended with exit code {code}",
    "file_problem": "{file} {problem}",
    "start_it": "see that it runs and can be reached, then try again",
}
