"""What errors say in English is recognised, so that it can be shown in Chinese: all of it, and as it was."""

import pytest

from client.following import GaveUp, StreamRefused
from client.reading import BadPayload
from selfcheck.chat.asking import Refused
from selfcheck.recognising import AREAS, explained, recognised
from selfcheck.texts import Message, area_texts, english, say, text
from shared.errors import InvalidField, KodaError, Misconfigured, Unavailable
from tests.support.faults import SAMPLE, told
from tests.support.sources import source, sources

SENTENCES = sorted({(file.path, sentence) for file in sources("src", "selfcheck") for _, sentence in told(file)})


@pytest.mark.parametrize(("path", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_every_sentence_of_an_error_is_in_the_catalogue(path: str, sentence: str) -> None:
    """And comes out in English as it went in."""
    words = recognised(sentence)
    assert isinstance(words, Message), path
    assert english(words) == sentence


@pytest.mark.parametrize("area", AREAS)
def test_every_template_is_recognised_as_what_it_is(area: str) -> None:
    """No other of the catalogue is taken for it."""
    for name, template in area_texts("en", area).items():
        if template.strip("{}") != template or " " in template:
            sentence = template.replace("{", "<").replace("}", ">")
            words = recognised(sentence)
            assert isinstance(words, Message), name
            assert english(words) == sentence


def test_errors_are_found_in_the_source() -> None:
    """Through a name, a choice and an ending; a value alone is no sentence."""
    code = (
        "def f(a):\n"
        "    problem = f'{a} is away' if a else 'nobody knows'\n"
        "    raise Misconfigured('bus', problem, f'start {a}') from None\n"
        "def why_not_callable(a):\n"
        "    return f'has {a} thing{\"s\" * (a > 1)}'\n"
        "def g(error):\n"
        "    raise Unavailable('store', f'{error}: {error}')\n"
    )
    assert sorted(sentence for _, sentence in told(source("src/shared/a.py", code))) == [
        f"{SAMPLE} is away",
        f"has {SAMPLE} thing",
        f"has {SAMPLE} things",
        "nobody knows",
        f"start {SAMPLE}",
    ]


@pytest.mark.parametrize(
    ("sentence", "chinese"),
    [
        ("is not there", "不存在"),
        ("SeqOrderer is of no use: offer is not defined", "SeqOrderer 无法使用：offer 没有定义"),
        (
            "solution/delivery.py:3 is not Python: invalid syntax",
            "solution/delivery.py:3 不是合法的 Python：invalid syntax",
        ),
        ("KODA_LEASE='x y' is not more than zero", "KODA_LEASE='x y' 不是大于零的数"),
        ("a file that defines def f(a) and def g(b)", "一个定义了 def f(a) 和 def g(b) 的文件"),
        ("emit(3, a Thing)", "emit(3, 一个 Thing)"),
        ("KeyError: 'x'", "KeyError: 'x'"),
        ("", ""),
    ],
)
def test_what_is_recognised_can_be_shown_in_chinese(sentence: str, chinese: str) -> None:
    """What stands in its places is recognised too; whatever else is a value."""
    assert text(recognised(sentence), "zh") == chinese
    assert english(recognised(sentence)) == sentence


@pytest.mark.parametrize(
    ("fault", "chinese"),
    [
        (Unavailable("store", "it was closed"), "存储不可用：已经关闭"),
        (Misconfigured("--json", "cannot write a: b", "change one of them"), "--json：无法写入 a：b；修改其中一个"),
        (InvalidField("text", "is blank"), "text: is blank"),
        (
            StreamRefused("r", "status 404 and content type none", 1, None),
            "运行 'r' 的流被拒绝（状态 404，内容类型 none）；再问也不会变",
        ),
        (
            GaveUp("r", "failures in a row: 8", 9, 3, "ReadTimeout: x"),
            "网关不可用：不再跟随运行 'r'：连续失败 8 次；最后收到的是事件 3；最后一次：ReadTimeout: x",
        ),
        (
            BadPayload("the event delta", "Expected `str`"),
            "网关：无法读懂事件 delta：Expected `str`；确认客户端和网关是同一个版本",
        ),
        (Refused(422, "text: is blank"), "被拒绝（422）：text: is blank"),
    ],
)
def test_an_error_is_explained_as_it_says_itself(fault: KodaError, chinese: str) -> None:
    """Its English is its own text."""
    assert english(explained(fault)) == str(fault)
    assert text(explained(fault), "zh") == chinese


def test_what_a_tree_says_is_not_filled_in() -> None:
    """Braces in a value are characters."""
    words = recognised("raises KeyError: '{problem}' when it is loaded")
    assert words == say("faults.raises_loading", error="KeyError: '{problem}'")
    assert text(words, "zh") == "加载时抛出 KeyError: '{problem}'"
