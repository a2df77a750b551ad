"""What exercises do in the service that nobody can go on from, as its log lines say it."""

from typing import Final

TEXTS: Final = {
    "number": "a number, 0 or more",
    "offer": "an offer",
    "emit_as_offered": "emit(number, item), with what was offered",
    "emit": "emit({seq}, {item})",
    "a_kind": "a {kind}",
    "offer_with_all": "offer({seq}, …), with all before {next} offered by then",
    "emit_before_return": "emit({seq}, …) before it returns",
    "not_emitted": "{seq} was not emitted",
}
