"""`watch`: what a save has changed, what is played, and how the tree is watched."""

from typing import Final

TEXTS: Final = {
    # what has happened
    "first": "every check is played; after that, at each save",
    "saved": "saved: {numbers:exercise&exercises} {numbers} changed",
    "rest": "saved: every check is played again",
    "asked": "every check is played again",
    "nothing": "saved: nothing changed that counts, so nothing is played",
    "partly": (
        "saved: {numbers:exercise&exercises} {numbers} changed; the other checks wait until all files can be read"
    ),
    "broken": "saved: nothing is played until this is mended; the verdicts are those of before",
    "expected": "expected: {expected}",
    # a check
    "unknown": "not played yet",
    "blocked": "blocked by {numbers:exercise {numbers}&{numbers}}",
    "due": "…",
    "as_before": "the first that does not pass is as it was; all about it stands above",
    "newly_green": "newly green",
    "regressed": "regression",
    # how the tree is watched
    "no_library": "watchfiles is not installed: the files are looked at five times a second instead",
    "no_events": "this file system announces no changes: the files are looked at five times a second instead",
    "refused": "changes cannot be listened to ({reason}): the files are looked at five times a second instead",
    # the terminal
    "keys": "Enter: everything again · q: end",
    "more": "… {count} {count:line|lines} more than fit here",
    "more_in": "… {count} {count:line|lines} more than fit here; all of it is in {folder}",
}
