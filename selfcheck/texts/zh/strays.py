"""What exercises do in the service that nobody can go on from, as its log lines say it."""

from typing import Final

TEXTS: Final = {
    "number": "一个不小于 0 的整数",
    "offer": "一次 offer",
    "emit_as_offered": "emit(seq, item)，item 是 offer 时给的内容",
    "emit": "emit({seq}, {item})",
    "a_kind": "一个 {kind}",
    "offer_with_all": "offer({seq}, …)，此时 {next} 之前的都已 offer 过",
    "emit_before_return": "返回之前 emit({seq}, …)",
    "not_emitted": "没有送出 {seq}",
}
