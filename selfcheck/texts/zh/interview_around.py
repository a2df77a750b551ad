"""The questions of an interview around the exercises: the wire, disconnects, failures, clients."""

from typing import Final

TEXTS: Final = {
    "sse-or-websocket.question": (
        "要把回复流式送到浏览器。用 SSE 还是 WebSocket？请做决定，并说明什么情况会让你改变决定。"
    ),
    "sse-or-websocket.think": "列出每个方向上有什么在走、多久一次，两端之间隔着什么，以及哪些东西得自己写。",
    "sse-or-websocket.point-1": (
        "回复是单向流动的；往回走的（消息、停止按钮）很少，而且各自需要应答和状态码。这就是一条流，旁边配上普通的"
        " POST。"
    ),
    "sse-or-websocket.point-2": (
        "SSE 就是 HTTP：认证、代理、压缩、HTTP/2 和日志都认识它。它自己会重连，并用 Last-Event-ID 带上游标。"
    ),
    "sse-or-websocket.point-3": (
        "双方都频繁说话、一条连接承载含多次运行的整个对话，或者服务器要提问并等待回答时，WebSocket 才划算。"
    ),
    "sse-or-websocket.point-4": (
        "用 WebSocket，重连、游标、心跳、上限、背压、错误模型都要自己写。都不难，但一样也不能少。"
    ),
    "sse-or-websocket.point-5": (
        "无论选哪个，日志都是真相，序号都一样。线路只是它的一种编码，可以更换；只存在于连接里的顺序则换不了。"
    ),
    "sse-or-websocket.follow-1": "浏览器对一个主机最多开六条 HTTP/1.1 连接。这对 SSE 意味着什么？",
    "sse-or-websocket.follow-2": "中间有代理在缓冲。你怎么发现，又发送什么来应对？",
    "sse-or-websocket.follow-3": "在浏览器里，这两者分别怎样做认证？",
    "disconnects.question": "服务器怎样发现客户端走了，客户端怎样发现服务器没了，部署时打开着的流又会怎样？",
    "disconnects.think": (
        "没有事情发生和没法发生，听起来都是沉默。那么谁必须出声，多久一次，另一方什么都听不到时该怎么办？"
    ),
    "disconnects.point-1": (
        "心跳让代理不去关闭沉默的连接，也告诉客户端线路还活着。它不能像一个事件：是一行注释，而不是带序号的帧。"
    ),
    "disconnects.point-2": "每次心跳，服务器都再查一次运行的状态：最后一个事件若在路上丢了，也不会有人永远挂着。",
    "disconnects.point-3": "不读数据的客户端，超过时间或字节上限就断开：它的缓冲区占的是你的内存，也是所有人的内存。",
    "disconnects.point-4": "运行不依赖连接。关掉标签页只是不看了；停止运行是另一个独立的请求。",
    "disconnects.point-5": (
        "收到 SIGTERM：不接新的，通知各个流去重连，让进行中的工作在限定时间内完成或交还，然后退出。有游标在，换服"
        "务器无人察觉。"
    ),
    "disconnects.point-6": (
        "把重连错开：连接有带抖动的最长寿命，客户端带退避和抖动地等待，重放有上限。否则一次部署就是对自己的攻击。"
    ),
    "disconnects.follow-1": "TCP 本来就有 keepalive，为什么还不够？",
    "disconnects.follow-2": "工作进程收到的是 SIGKILL 而不是 SIGTERM。对用户有什么不同？",
    "disconnects.follow-3": "排空可以花多长时间，由谁决定？",
    "cut-off.question": "回复在中途断了：模型出错，或者正在输出的工作进程死了。用户看到什么，系统做什么？",
    "cut-off.think": (
        "一部分文字已经被看到了。要问：关于它可以说什么，谁来发现已经没人在干活，又怎样不让那个被当作死了的继续写。"
    ),
    "cut-off.point-1": "要续期的租约：谁不再续期，谁就失去这次运行，不论原因。任何对进程的健康检查都说明不了这么多。",
    "cut-off.point-2": "每次认领都把尝试数加一，并随每次写入携带。它就是围栏令牌：旧尝试的迟到写入会被流和存储拒绝。",
    "cut-off.point-3": (
        "继任者先把只在流上的内容存下来，再写明此前的文字作废，然后接着用下一个序号。读者看过的永远不会重新编号。"
    ),
    "cut-off.point-4": "重试有上限，带退避和抖动，而且只用于可能过去的问题：超时、模型过载。错误的请求再试还是错。",
    "cut-off.point-5": "最后运行以 failed 结束，原因是人能读懂的，并且是一个事件，前端才会停止转圈。",
    "cut-off.point-6": "沉默也是故障：第一段要多久，两段之间要多久，整体要多久，各有上限。",
    "cut-off.follow-1": "能不能保留已输出的一半，让模型接着说？那要求模型具备什么？",
    "cut-off.follow-2": "被丢弃的那一半，服务商也收了费。你在哪里能看到？",
    "cut-off.follow-3": "用户按了停止，工作进程还没听到就死了。运行的最后一个事件是什么？",
    "without-eventsource.question": (
        "EventSource 既不能发请求体也不能带请求头。怎样用 fetch 读 SSE，EventSource 替你做的哪些事得自己做？"
    ),
    "without-eventsource.think": (
        "你拿到的是一块块字节，它们不懂什么是行、字符或事件。一步步走到事件，再问：字节停了怎么办。"
    ),
    "without-eventsource.point-1": (
        "有状态的解析器：数据块可能从任何地方切开，包括 UTF-8 字符中间、CR 与 LF 之间。增量解码，只在 CR、LF、"
        "CRLF 处分行，别的换行符都不算。"
    ),
    "without-eventsource.point-2": (
        "空行结束一个事件；多个 data 行用 LF 连接；冒号开头的行是注释；字段冒号后的一个空格去掉；结尾没有空行的块"
        "不算事件。"
    ),
    "without-eventsource.point-3": "id 跨事件、跨连接地记住；含 NUL 的 id 忽略；retry 只认数字。",
    "without-eventsource.point-4": (
        "重连归你：带退避和抖动地等待，带上游标，遇到 204 和最后一个事件就停，放弃时要说明原因。"
    ),
    "without-eventsource.point-5": "解析之前先检查状态码和内容类型：代理的错误页不是流。",
    "without-eventsource.point-6": (
        "停止就是中止请求。前端状态是事件的纯函数，以运行和序号为键，重放的和迟到的都不会造成破坏。"
    ),
    "without-eventsource.follow-1": "这样的解析器，要怎样测试你才信得过？",
    "without-eventsource.follow-2": "哪些字符 JSON 不转义，却会绊倒按行切分的客户端？",
    "without-eventsource.follow-3": "标签页睡了一小时后醒来。你的客户端首先做什么？",
}
