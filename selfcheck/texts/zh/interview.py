"""The interview's own words."""

from typing import Final

TEXTS: Final = {
    "welcome": "共 {count} 题。先说出来或写在纸上，再看好的回答里有什么。输入 q 结束。",
    "number": "第 {number} 题，共 {count} 题：{name}",
    "answer_first": "请先作答，然后按回车。",
    "think": "怎样思考",
    "on_to_points": "还有要补充的吗？按回车看要点。",
    "points": "要点",
    "had_it": "你答到了吗？输入 y，没有就按回车",
    "had": "{points} 个要点，你答到 {had} 个。",
    "further": "接下来可能会问",
    "code": "对应的代码",
    "see": "亲眼看看",
    "score": "你的得分",
    "column_name": "题目",
    "column_had": "本次",
    "column_best": "最好",
    "unknown": "没有题目 {name}；可选的有：{names}",
}
