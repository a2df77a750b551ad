"""What is said about a conversation, beside the replies."""

from typing import Final

TEXTS: Final = {
    "session": "session {session}, replies so far: {replies}",
    "keys": "type while it answers to correct yourself; Ctrl-C stops it, Ctrl-D leaves",
    "not_merged": "not merged; it is answered after this",
    # why a reply is replaced
    "merge": "merged; the reply so far is void",
    "retry": "an error; the reply so far is void, it is tried again",
    "takeover": "a worker was lost; the reply so far is void, another one goes on",
    "snapshot": "the reply so far, at once",
    "gap": "the run has another history; the reply so far is void",
    "void": "{why}; the reply so far is void",
    # what a run does besides replying
    "thinking": "thinking: {thought}",
    "forked": "sub-run {number}: {title}",
    "question_keys": "type the answer, or /say and a message; /skip or an empty line leaves it at: {default}",
    "skipped": "not answered; in time it goes on with: {default}",
    "too_late": "too late: it takes no more answers",
    "answer_taken": "answered: {answer}",
    "default_taken": "nobody answered in time; it goes on with: {answer}",
    # how it goes
    "reconnecting": "the connection is lost; reconnecting",
    "asked": "asked",
    "answered": "answered",
    "failed": "failed",
    "failed_with": "failed: {message}",
    "stopped": "stopped",
}
