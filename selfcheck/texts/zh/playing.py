"""How a play of a check came out when the check itself had nothing to say: what was awaited, and what came instead."""

from typing import Final

TEXTS: Final = {
    # what was awaited
    "stream": "{run} 的流",
    "stream_answered": "{run} 的流（应答是 {status}）",
    "stored": "{run} 的事件 {seq} 写入存储",
    "event": "{run} 的事件 {seq}",
    "end": "{run} 的结尾",
    "lab": "实验控制接口的应答",
    "log_line": "日志行 {event}",
    "answer": "{method} {route} 的应答",
    "answered": "{method} /{route} 的应答，而得到的是 {status}：{detail}",
    # rules
    "exercise_answers": "练习给出答案。",
    "exercise_returns": "练习会返回。",
    "exercise_workable": "练习 {number} 的行为能让别人用得上。",
    "keeps_protocol": "服务遵守协议。",
    "goes_on": "服务持续运行。",
    "moves": "运行能按状态转换表转换。",
    "loads": "代码目录能够加载。",
    "defines": "代码目录里的文件只做定义，随后返回。",
    "service_answers": "{service}有应答。",
    # given, expected, actual
    "call": "服务的一次调用",
    "call_of": "服务对练习 {number} 的一次调用",
    "import": "导入 {file}",
    "an_answer": "一个答案",
    "as_agreed": "符合约定的应答",
    "returns": "会返回",
    "does_not_return": "一直不返回",
    "stopped_itself": "它暂停了自己的进程",
    "returns_target": "返回 {target}",
    "was_refused": "被拒绝了",
    "did_not_come": "没有等到",
    "runs_on": "继续运行",
    "broke_off": "服务中断了连接，自己却还在运行",
    "ended": "服务结束了，退出码 {code}",
    "process_ended": "进程结束了，退出码 {code}",
    "file_problem": "{file} {problem}",
    "start_it": "确认它在运行、能够连上，然后重试",
}
