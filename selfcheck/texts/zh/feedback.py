"""What to do next, how to play the same again, and what a run of several repetitions says."""

from typing import Final

TEXTS: Final = {
    # rows of a check that does not pass
    "differs": "差别",
    "difference": "{shared} 之后：应为 {expected}，实为 {actual}",
    "timeline": "时间线",
    "question": "想一想",
    "next": "下一步",
    "again": "重来",
    "cut": "{shown}（共 {count} 个字符）",
    "steps_before": "… 前面还有 {count} 步",
    "steps_behind": "… 后面还有 {count} 步",
    # what to do
    "next_todo": "写出 {where} 处的函数体；可用 selfcheck hint {exercise} 看提示",
    "next_failed": "打开 {where}，顺着时间线看到标记处；可用 selfcheck hint {exercise} 看提示",
    "next_blocked": "这一项先不动，先做练习 {numbers}",
    "next_crashed": "打开 {where}：错就出在那里",
    "next_hung": "打开 {where}：那里的代码一直不结束",
    "next_environment": "不是你代码的问题：先确认服务在运行，再试一次",
    # beside the states
    "regression": "退步：上次是通过的",
    "regressed": "{state}，上次是通过的",
    "folded": "用 --only N 可展开其中一项",
    "folder": "完整的值和时间线：{folder}",
    "doctor": "环境问题不是你的错：selfcheck doctor 会帮你查出哪里不对",
    "activate": "当前 shell 还找不到 selfcheck 命令，请先执行：{command}",
    # repetitions
    "repetition": "第 {number} 遍，共 {count} 遍",
    "flaky": "时好时坏：{name} 的结果先后是 {states}",
    "all_alike": "{count} 遍结果都一样",
    "not_played": "未执行",
}
