"""What is said about a conversation, beside the replies."""

from typing import Final

TEXTS: Final = {
    "session": "会话 {session}，已有 {replies} 条回复",
    "keys": "回复过程中可以再输入来更正，Ctrl-C 停止回复，Ctrl-D 离开",
    "not_merged": "没有合并；这一条回复完之后再答",
    # why a reply is replaced
    "merge": "已合并；前面的回复作废",
    "retry": "出错了；前面的回复作废，正在重试",
    "takeover": "工作进程失联；前面的回复作废，由另一个接管",
    "snapshot": "到目前为止的全部回复",
    "gap": "这个运行的历史已经变了；前面的回复作废",
    "void": "{why}；前面的回复作废",
    # what a run does besides replying
    "thinking": "思考：{thought}",
    "forked": "子运行 {number}：{title}",
    "question_keys": "直接输入就是回答，/say 后面的内容则作为消息发送；/skip 或空行表示不答，到时按默认继续：{default}",
    "skipped": "没有回答；到时按默认继续：{default}",
    "too_late": "太晚了，这个问题不再接受回答",
    "answer_taken": "已回答：{answer}",
    "default_taken": "没有人及时回答，按默认继续：{answer}",
    # how it goes
    "reconnecting": "连接断开，正在重连",
    "asked": "已调用",
    "answered": "已返回",
    "failed": "失败",
    "failed_with": "失败：{message}",
    "stopped": "已停止",
}
