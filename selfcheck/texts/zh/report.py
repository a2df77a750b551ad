"""The report of a run: its head, a line per check, and the details of what does not pass."""

from typing import Final

TEXTS: Final = {
    "head": "{tree}，{mode}，种子 {seed}",
    "mock": "内存模式",
    "real": "真实的 Redis 和 PostgreSQL",
    "score": "{total} 项检查，通过 {passed} 项",
    "prints": "代码目录打印的内容（最后 {count} 行）：",
    # a check that passes, in a few words
    "transitions": "36 种转换全对；迟到的写入{late_write}",
    "ordering": "按序送达 {delivered}, …",
    "waiting": "共 {events} 个事件；两个等待者分别收到 {held} 个",
    "reconnecting": "先收到 {before} 个，到 {last} 为止，接着 {after}，不重不漏",
    "merging": "已合并，同一个运行，从序号 {seq} 起重跑，含 “exchange”",
    "outside": "{count} 条后续消息，开出 {count} 个新运行",
    # details of one that does not
    "rule": "规则",
    "given": "给定",
    "expected": "期望",
    "actual": "实际",
    "blocked_by": "受阻于",
    "open": "打开",
    "blocked": "受阻于练习 {numbers}",
    "blocker": "练习 {numbers}：换成参考答案后本项检查通过，你这一题是对的",
    "matrix": "运行能否从（行）转换到（列）？",
    "yes": "能",
    "no": "否",
    "comma": "、",
    "and": "、",
    "none": "无",
}
