"""The timeline of a check: who did what, in five lanes."""

from typing import Final

TEXTS: Final = {
    # lanes, as they stand before each line
    "client": "客户端",
    "gateway": "网关",
    "bus": "总线",
    "worker": "工作进程",
    "store": "存储",
    # steps
    "said": "POST /chat “{text}”",
    "opened": "新开 {run}，把会话放上 koda:in",
    "opened_wrongly": "新开 {run}：这条消息本该合并",
    "merged": "并入 {run}，并设下标记",
    "merged_wrongly": "并入 {run}：这条消息本该新开一个运行",
    "handed_out": "koda:in 把 {run} 的会话交给一个工作进程",
    "moved": "{run}：{source} → {target}",
    "marked": "{run} 的一次写入带回了 rerun 标记",
    "reruns": "带着 {messages} 条消息重跑，从序号 {seq} 开始",
    "watched": "等待者 {waiter} 从头观看 {run}",
    "resumed": "等待者 {waiter} 观看 {run}，Last-Event-ID: {cursor}",
    "received": "{waiter} 收到 {seqs}",
    "received_wrong": "{waiter} 收到 {seq}；该来的是 {due}",
    "ended": "{waiter} 的流以 {kind} 结束",
    "no_end": "{waiter} 的流断了，没有结束事件；该来的是 {due}",
    "left": "{waiter} 断开连接",
    "brought": "送来 {seqs}",
    "row": "{first} … {last}",
    "cut": "{seqs}, …（共 {count} 个）",
    "stands": "{run} 的状态是 {status}",
    "stored": "已有 {run} 到序号 {seq} 为止的事件",
    "holds": "共有该会话的 {count} 个事件",
    "goes_on": "放模型一直说到底",
    "holds_at": "放模型说 {count} 个片段，然后等着",
    "advanced": "时钟拨快 {seconds} 秒",
    "shuffles": "从这里起打乱顺序并重复投递，种子 {seed}",
    "wakes_late": "{run} 自己的工作进程醒晚了，又来写入",
    "write_refused": "迟到的写入被拒绝",
    "write_taken": "迟到的写入被执行了；本该拒绝",
    "probed": "用 {count} 个用例探测练习 {exercise}",
    "told": "{given}：{actual}",
}
