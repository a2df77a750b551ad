"""What the command says around a hint."""

from typing import Final

TEXTS: Final = {
    "head": "练习 {exercise}，提示 {level}/{levels}",
    "tailored": "针对上次运行所见：",
    "next": "先试试，再运行 selfcheck。还想要一条提示：\n    {more}",
    "last": "这是最后一条。完整的参考答案：\n    selfcheck diff {exercise}",
    "passes": "上次运行时练习 {exercise} 已经通过，没什么可提示的。仍想看的话：\n    {more} --level 1",
    "all_seen": "三条提示都看过了。接下来可以再看一遍，可以看参考答案，也可以从头写起：\n"
    "    {more} --again\n"
    "    selfcheck diff {exercise}\n"
    "    selfcheck reset {exercise}{options}",
    "not_kept": "没能记住你看到了哪一条，下次会从头开始。后一条是\n    {more} --level 2",
}
