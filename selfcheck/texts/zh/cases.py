"""The cases of the probes: what an exercise was asked, as it is written in code, with a word about why."""

from typing import Final

TEXTS: Final = {
    # should_merge
    "no_run": "should_merge(None：会话还没有运行)",
    "a_run": "should_merge(一个 {status} 的运行，{age})",
    "created_now": "刚刚创建",
    "age": "年龄 {seconds} 秒",
    "age_almost": "年龄比 30 秒小 1 微秒",
    "age_exactly": "年龄恰好 30 秒",
    "age_day": "年龄一天零一秒",
    "age_zone": "年龄 {seconds} 秒，时间以 {zone} 时区表示",
    # resume_from
    "header_absent": "{call}，没有这个请求头",
    "header_empty": "{call}，请求头为空",
    "digits": "{call}，{count} 位数字",
    "superscript": "{call}，它的 isdigit() 为真，int() 却会抛出异常",
    "arabic": "{call}，int() 会把它读成 3",
    # SeqOrderer
    "offers": "依次 offer {offers}",
    "gap_closes": "{seqs}（缺口随后补上）",
    "frees_all": "{seqs}（缺的序号一到，整段放行）",
    "again_below": "{seqs}（重复送来低于指针的）",
    "again_held": "{seqs}（留存期间和送出之后都重复送来）",
    "starts_at": "{seqs}，排序器从 {start} 开始",
    "never_begins": "{seqs}（0 始终没来）",
    "empty_texts": "{seqs}，内容都是空字符串",
    "interleaved": "两个排序器，交错 offer",
    "random_order": "200 个序号，每个两次，顺序随机",
    "backwards": "从 {first} 倒着 offer 到 0",
}
