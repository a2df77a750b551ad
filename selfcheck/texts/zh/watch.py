"""`watch`: what a save has changed, what is played, and how the tree is watched."""

from typing import Final

TEXTS: Final = {
    # what has happened
    "first": "先把所有检查做一遍，之后每次保存都会再做",
    "saved": "已保存：练习 {numbers} 有改动",
    "rest": "已保存：重做所有检查",
    "asked": "重做所有检查",
    "nothing": "已保存：没有实质改动，不用重做检查",
    "partly": "已保存：练习 {numbers} 有改动；其余检查等所有文件都能读懂后再做",
    "broken": "已保存：改好下面这处之前不做检查；上面的结果是之前的",
    "expected": "应为：{expected}",
    # a check
    "unknown": "还没做",
    "blocked": "受阻于练习 {numbers}",
    "due": "…",
    "as_before": "第一项没通过的检查和之前一样，详情见上文",
    "newly_green": "刚刚通过",
    "regressed": "退步",
    # how the tree is watched
    "no_library": "没有安装 watchfiles：改为每秒查看文件 5 次",
    "no_events": "这个文件系统不通知文件改动：改为每秒查看文件 5 次",
    "refused": "无法监听文件改动（{reason}）：改为每秒查看文件 5 次",
    # the terminal
    "keys": "Enter：全部重做 · q：结束",
    "more": "… 还有 {count} 行，这里放不下",
    "more_in": "… 还有 {count} 行，这里放不下；完整内容见 {folder}",
}
