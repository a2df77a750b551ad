"""What evidence is called where people read it: the names of its fields, and the words among its values."""

from typing import Final

TEXTS: Final = {
    # fields
    "probe": "探测",
    "late_write": "迟到的写入",
    "logged_as_illegal": "记为非法转换",
    "status_after": "之后的状态",
    "events_added": "新增事件",
    "arrived": "到达顺序",
    "delivered": "送达顺序",
    "reply": "回复",
    "events": "事件数",
    "events_per_waiter": "每个等待者的事件数",
    "waiter_A": "等待者 A",
    "waiter_B": "等待者 B",
    "received_before": "断线前收到",
    "last_before": "断线前最后的序号",
    "status_at_reconnect": "重连时的状态",
    "first_after": "重连后的第一个序号",
    "duplicates": "重复",
    "missing": "缺失",
    "first_answer": "第一次应答",
    "second_answer": "第二次应答",
    "run_id": "运行",
    "merged": "已合并",
    "reruns_from_seq": "从此序号起重跑",
    "messages": "消息数",
    "runs": "各次运行",
    "previous": "前一个运行",
    "age_s": "已过秒数",
    "status": "状态",
    "run": "运行",
    # values
    "cases_right": "{cases} 个用例，对 {right} 个",
    "refused": "被拒绝",
    "carried_out": "被执行",
}
