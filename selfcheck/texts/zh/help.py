"""What `--help` says: a line for the command, one for each sub-command and each option."""

from typing import Final

TEXTS: Final = {
    "selfcheck": "端到端检查 Koda 实验的四个练习。",
    # sub-commands
    "run": "运行六项检查。",
    "watch": "每次保存都做检查，先做改动会影响的几项。",
    "hint": "显示练习的下一条提示：先是问题，再是轮廓，最后接近代码。",
    "diff": "显示参考答案改了起始代码的哪些地方。",
    "reset": "把一个练习恢复原样；会保留带日期的文件副本。",
    "doctor": "说明实验环境的底细：Python、软件包、代码目录、端口、服务、设置。",
    "verify": "验证实验代码：两个目录、错误作业、文案、画面。",
    "grade": "批量评判许多份作业，彼此隔离，也接触不到参考答案。",
    "serve": "在内存里运行服务，供手动和 curl 试用，按 Ctrl-C 结束。",
    "chat": "与服务对话：终端里的小前端，也可从标准输入逐行读消息。",
    "experiment": "故意违背一条承诺，和正常的服务对照着看后果。",
    "interview": "模拟面试：先思考，再逐点揭晓，勾选你答到的。",
    # options of several
    "tree": "练习所在的文件夹。",
    "lang": "en 或 zh；不写则看 LANG。",
    # options of one
    "only": "只做一项检查。",
    "seed": "决定总线怎样打乱顺序。",
    "repeat": "整套重复多少遍，并指出哪些不稳定。",
    "json": "同时把结果写入这个文件，每项检查后都写。",
    "junit": "同样的结果，写成 JUnit XML。",
    "real": "使用为这次检查启动的 PostgreSQL 和 Valkey。",
    "exit_zero": "有检查未通过时也以 0 退出。",
    "exercise": "只看一个练习；不写则全部。",
    "hint_exercise": "哪个练习。",
    "level": "显示指定的这一条，不管之前看到哪里。",
    "again": "从第一条重新开始。",
    "reset_exercise": "要恢复的练习。",
    "reset_file": "恢复整个文件，即使它已经不是合法的 Python。",
    "reset_yes": "不再询问。",
    "poll": "不监听改动，而是定时查看：用于网络上的文件夹。",
    "port": "0 表示任选一个空闲端口。",
    "url": "已在运行的网关；不写则在内存里启动一个。",
    "session": "要对话的会话；不写则新建。",
    "experiment_name": "哪一个实验；不写则列出全部。",
    "no_wait": "展示之前不等按 Enter。",
    "questions": "要问哪些问题；不写则全部。",
    "list": "只列出问题和你的最好成绩。",
    "read": "一次全部打印出来阅读。",
}
