"""The experiment `no-terminal-states`."""

from typing import Final

TEXTS: Final = {
    "breaks": (
        "练习 1 的表允许一切迁移，连离开 done 都行。一个 run 结束了。这时它自己那个卡住的 worker 醒来，又写了一个"
        "片段：它以为 run 还在 running，而它的 attempt 也确实是当前的。"
    ),
    "predict": ("围栏帮不上忙：attempt 是对的。之后 run 是什么状态？回来的等待者看到什么？用户的下一条消息呢？"),
    "moves": "run 经过的状态",
    "worker": "迟到的 worker 得到的答复",
    "written": "没人拦：片段写进去了，run 现在是 {status}",
    "waiter": "像浏览器那样带着游标回来的等待者",
    "nothing_more": "204：没有更多了，不再重连",
    "again": "连了 {times} 次也等不到结束：{kinds} | 如此往复",
    "next": "本会话的下一条消息（以及之后另一个会话的一条）",
    "statuses": "{status}（另一个：{other}）",
    "look": (
        "run 又成了 streaming，却没有人在执行它。等待者在结束之后又收到一个词，此后每次连上都只得到 error："
        "结束不来，它就永远重连下去。会话里有了一个活动的 run，不能再有第二个：下一条消息一直 pending，"
        "而另一个会话后发的消息已经答完了。"
    ),
    "why": (
        "结束必须是终点，否则建立在它上面的都靠不住：等待者离开，会话开始下一个 run，日志就此完整。"
        "attempt 说谁可以写，表说还可以写什么；写入语句带着这两个条件，只有仍然成立才写得进去。"
    ),
}
