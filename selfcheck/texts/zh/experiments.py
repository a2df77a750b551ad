"""What all experiments have in common, and each of them in a line."""

from typing import Final

TEXTS: Final = {
    "list": "每个实验故意打破一条约定，用真实输出给你看后果：",
    "how": "selfcheck experiment NAME",
    "consumer_group": "输出流被瓜分，而不是广播",
    "seq_reset": "重跑时 seq 又从 0 数起",
    "stream_without_store": "事件只进流，不写入存储",
    "store_without_stream": "等待者只能从存储里拿事件",
    "no_terminal_states": "运行可以离开终态",
    "unbounded_buffer": "排序器扣住多少都没人管",
    "unknown": "没有名为 {name} 的实验；可选：{names}",
    "breaks": "打破了什么",
    "predict": "先猜猜看",
    "press": "按 Enter 看结果。",
    "playing": "正在两边跑同一个场景……",
    "healthy": "原样",
    "broken": "打破后",
    "nothing": "（什么也没有）",
    "look": "看哪里",
    "why": "为什么这样设计",
    "code": "代码位置",
    "held": "由谁守着",
    "check": "检查 {check}：selfcheck run --only {check}",
    "waited": "等了 {seconds} 秒也没等到{what}",
    "event": "运行的事件",
    "offered": "排序器收到 {seq} 号事件",
}
