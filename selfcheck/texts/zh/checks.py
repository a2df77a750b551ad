"""The six checks: what each is called, its rule, and what it finds."""

from typing import Final

TEXTS: Final = {
    # any check
    "typed": "{says}（类型为 {type}）",
    "listed": "{before}, {next}",
    "cut": "{shown}, …（共 {count} 个）",
    "nothing": "什么都没有",
    "of": "{orderer}{seq}",
    "seqs": "序号 {seqs}",
    # 1
    "transitions": "状态转换",
    "transitions_rule": (
        "运行按 pending → running → streaming → done 推进，可以提前以 failed 或 cancelled 退出，到了终态就不再离开；"
        "其他转换一律抛出 IllegalTransition。"
    ),
    "returns": "返回 {value}",
    "returned": "返回了 {value}",
    "raises_illegal": "抛出 IllegalTransition",
    "raised": "抛出了 {error}",
    "late": "run-1 已经 done；它自己的工作进程（attempt 仍是当前值）很晚才醒来，又写入一个片段",
    "late_refused": "被 transition 拒绝并记为非法转换；状态仍是 done，没有新增事件",
    "late_seen": "{late_write}；状态 {status}，新增 {added} 个事件",
    # 2
    "ordering": "按序送达",
    "ordering_rule": (
        "每个序号只送达一次，并且按顺序：低于指针的丢弃，跨过缺口的先留着，缺的序号一到，就把连续的一整段全部送出。"
    ),
    "bus_delivers": "总线送来 {seqs}",
    "each_once": "{seqs}；每个一次，然后结束",
    "first_wrong": "{seqs}；第一个错在位置 {place}",
    "never_came": "{seqs}；有 {count} 个始终没来",
    "emits": "送出 {items}",
    "emitted": "送出了 {items}",
    "emitted_late": "送出了 {items}（内容对，但没有在该送出的那次 offer 里送出）",
    "cost_rule": "一次 offer 的开销，不随留存的数量增长。",
    "cost": "百分之几秒的计算",
    "cost_seen": "三分之一秒还没算完：是不是每次 offer 都把留存的全部看一遍？",
    "emits_all": "最后一次 offer 时，按顺序送出全部 {count} 个",
    "emitted_wrong": "送出了 {count} 个，或者顺序不对",
    # 3
    "waiting": "两个等待者",
    "waiting_rule": "运行是执行的单位，等待者是观看的单位：每个等待者都收到运行的每一个事件。",
    "two_waiters": "run-1 的两个等待者，都在第一个事件之前接入；这个运行共有 {events} 个事件",
    "both_hold": "两个都收到全部 {events} 个",
    "holds": "{waiter} 收到 {held} 个；缺少 {missing}",
    # 4
    "reconnecting": "断线重连",
    "reconnecting_rule": (
        "Last-Event-ID 是最后收到的序号：从它加一继续。没有、为空，或者不是 1 到 18 位 ASCII 数字的，都不算游标：从 0"
        " 开始。"
    ),
    "cut_after": "收到 {count} 个事件后断线（最后的序号是 {cursor}）；带着 Last-Event-ID: {cursor} 重连",
    "first_is": "重连后的第一个事件是 {seq}",
    "it_is": "第一个事件是 {seq}",
    "over_both": "两次连接合起来，每个事件恰好一次，并且有结尾",
    "over_both_seen": "重复：{twice}；缺失：{missing}；重连时的状态：{status}",
    # 5 and 6
    "merging": "合并窗口之内",
    "merging_rule": (
        "同时满足三条才合并：会话有前一个运行；它的状态是 running 或 streaming；它的年龄小于 MERGE_WINDOW（30 秒，"
        "恰好 30 秒不算）。"
    ),
    "second_streaming": "run-1 正在 streaming，年龄 0 秒，这时来了第二条消息",
    "with_correction": "合并了更正消息的 run-1",
    "across_rerun": "重跑前后，序号是连续的 0, 1, 2, …",
    "two_messages": "消息 “… a refund.” 和 “Actually, … an exchange.”",
    "takes_in": "回复里采纳了换货（exchange）",
    "rerun_line": "工作进程关于重跑的日志行",
    "rerun_as": "原因 merge，2 条消息",
    "rerun_seen": "原因 {reason}，{messages} 条消息",
    "outside": "合并窗口之外",
    "second_old": "{run} 正在 streaming，年龄 {age} 秒，这时来了第二条消息",
    "second_done": "{run} 已经 done，年龄 0 秒，这时来了第二条消息",
    "one_by_one": "第一个运行结束之后，第二个才开始",
    "both_active": "两个运行同时处于进行中",
    "by_itself": "{run} 完整，并且只含自己的事件",
    "run_of_its_own": "merged: False，并且是一个新的运行",
    "same_run": "merged: {merged}，还是同一个运行",
}
