"""What Typer says of a command line. Recognised, line by line, where it does."""

from typing import Final

TEXTS: Final = {
    "usage": "用法：{usage}",
    "arguments": "参数：",
    "options": "选项：",
    "commands": "命令：",
    "help_row": "{option}  显示这些说明，然后退出。",
    "default": "默认：{value}",
    "required": "必填",
    "try_help": "运行 '{command}' 查看说明。",
    "error": "错误：{problem}",
    # problems
    "no_option": "没有这个选项：{option}",
    "no_option_but": "没有这个选项：{option}（可选的有：{options}）",
    "no_command": "没有命令 {command}。",
    "no_command_but": "没有命令 {command}。是不是 {commands}？",
    "no_value": "选项 {option} 不带值。",
    "needs_value": "选项 {option} 需要一个值。",
    "missing_argument": "缺少参数 {argument}。",
    "missing_option": "缺少选项 {option}。",
    "missing_command": "缺少命令。",
    "extra": "多出了参数（{arguments}）",
    "invalid": "{option} 的值无效：{problem}",
    "too_big": "应当不大于 {most}",
    "too_small": "应当不小于 {least}",
    "no_integer": "应当是整数",
    "not_one_of": "{value} 不是其中之一：{choices}",
}
