"""What to do next, how to play the same again, and what a run of several repetitions says."""

from typing import Final

TEXTS: Final = {
    # rows of a check that does not pass
    "differs": "differs",
    "difference": "after {shared}: {expected} is expected, {actual} came",
    "timeline": "timeline",
    "question": "question",
    "next": "next",
    "again": "again",
    "cut": "{shown} ({count} characters in all)",
    "steps_before": "… {count} {count:step|steps} before",
    "steps_behind": "… {count} {count:step|steps} more",
    # what to do
    "next_todo": "write the body at {where}; selfcheck hint {exercise} helps",
    "next_failed": "open {where} and follow the timeline to the mark; selfcheck hint {exercise} helps",
    "next_blocked": "leave this one as it is and do {numbers:exercise&exercises} {numbers} first",
    "next_crashed": "open {where}: it went wrong there",
    "next_hung": "open {where}: what is running there does not end",
    "next_environment": "this is not your code: see that the services run, then try again",
    # beside the states
    "regression": "regression: it passed the last time",
    "regressed": "{state}, passed the last time",
    "folded": "--only N shows one of them whole",
    "folder": "full values and timelines: {folder}",
    "doctor": "environment is not your fault: selfcheck doctor looks for what is wrong",
    "activate": "selfcheck is not on this shell's path yet; type first: {command}",
    # repetitions
    "repetition": "repetition {number} of {count}",
    "flaky": "flaky: {name} came out as {states}",
    "all_alike": "all {count} repetitions came out alike",
    "not_played": "not played",
}
