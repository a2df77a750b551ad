"""The texts in Chinese, a module for each area.

One word per idea, as in the glossary of the design. Statuses, event kinds, field names and whatever else is code stay
as they are written in code.

    session 会话 · message 消息 · run 运行 · active 进行中 · event 事件 · fragment 片段 · seq 序号 · waiter 等待者
    cursor 游标 · attempt 尝试 · mark 标记 · merge 合并 · MERGE_WINDOW 合并窗口 · rerun 重跑 · reply 回复
    broadcast 广播 · share out 分摊 · consumer group 消费组 · fencing token 围栏令牌 · lease 租约 · takeover 接管
    state machine 状态机 · transition table 状态转换表 · transition 转换 · orderer 排序器 · resume 续传
    reconnect 断线重连 · gap 缺口 · duplicate 重复 · backfill 回填 · reorder buffer 重排缓冲区 · pointer 指针
    gateway 网关 · worker 工作进程 · bus 总线 · store 存储 · stream 流 · client 客户端 · service 服务
    clock 时钟 · heartbeat 心跳 · log line 日志行 · late write 迟到的写入
    exercise 练习 · check 检查 · probe 探测 · case 用例 · scenario 场景 · evidence 证据 · verdict 结论 · seed 种子
    tree 代码目录 · starter 起始代码 · solution 参考答案 · submission 作业 · mutant 变异体 · stand in 顶替
    symptom 症状 · hint 提示 · timeline 时间线 · regression 退步 · experiment 实验 · interview 面试
    learner 学习者 · instructor 教师 · grade 评分

Half-width digits and Latin letters, a space between them and Chinese characters; full-width punctuation in sentences.
"""
