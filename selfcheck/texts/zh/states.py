"""The states of a check."""

from typing import Final

TEXTS: Final = {
    "passed": "通过",
    "todo": "待完成",
    "failed": "未通过",
    "blocked": "受阻",
    "crashed": "崩溃",
    "hung": "卡住",
    "environment": "环境问题",
}
