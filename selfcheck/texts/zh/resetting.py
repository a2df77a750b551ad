"""Putting an exercise back."""

from typing import Final

TEXTS: Final = {
    "nobody_to_ask": "这里没有终端可以询问；确定的话请加 --yes",
    "nothing_to_do": "{file} 里的练习 {number} 还是原样，无需恢复。",
    "ask": "要这样恢复 {file} 里的练习 {number} 吗？会保留一份副本。输入 y，不恢复就按回车",
    "left": "{file} 保持不变。",
    "done": "{file} 里的练习 {number} 已恢复原样。",
    "copy": "原来的文件保存在：{copy}",
}
