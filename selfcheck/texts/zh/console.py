"""What any command says on standard error about itself."""

from typing import Final

TEXTS: Final = {
    "stopped": "已停止",
    "cannot_show": "这个终端的编码是 {encoding}，显示不了中文，以下改用英文",
    "refused": "系统拒绝了一项操作：{reason}",
    "away": "{service}不可用：{problem}",
    "misconfigured": "{service}：{problem}；{remedy}",
}
