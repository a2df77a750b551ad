"""What `serve` says: where the service is, and what to try with it."""

from typing import Final

TEXTS: Final = {
    "runs": "服务运行在 {url}（内存模式），使用 {tree} 里的练习。按 Ctrl-C 结束。",
    "send": "发送一条消息；应答里有运行的 id",
    "watch": "从头观看一个运行",
    "resume": "从事件 5 之后续传",
    "stands_in": "{where} {problem}；由参考答案顶替",
}
