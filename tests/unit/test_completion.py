"""Reading one streamed chat completion: as OpenAI has it, and as the servers that imitate it do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.events import Json, decode_data
from shared.shortening import shortened
from tests.support.calm import calm
from worker.models.completion import Completion
from worker.models.port import Finished, FinishReason, Fragment, Piece, ToolCall, Usage, Working
from worker.models.refusal import Refused

STOP = Finished(FinishReason.STOP)
STOPPED = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'


def chunk(delta: Json = None, finish: str | None = None, **more: Json) -> str:
    """Return the data of one chunk."""
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


def text(content: str) -> str:
    """Return the data of a chunk with a text."""
    return chunk({"content": content})


def read(*events: str) -> list[Piece]:
    """Read a whole reply."""
    completion = Completion()
    pieces: list[Piece] = [piece for event in events for piece in completion.take(event)]
    return [*pieces, *completion.rest()]


def refusal(*events: str) -> tuple[str, bool]:
    """Read a reply that cannot be read; return the problem and whether it is permanent."""
    with pytest.raises(Refused) as refused:
        read(*events)
    return refused.value.problem, refused.value.permanent


# --- Text -------------------------------------------------------------------------------------------------------------


def test_a_reply_as_openai_sends_it() -> None:
    """The role, the text, the reason, the usage, the end; an empty text is no fragment, and all else says nothing."""
    assert read(
        chunk({"role": "assistant", "content": "", "refusal": None}, usage=None, system_fingerprint="fp"),
        text("Hel"),
        text("lo"),
        chunk({}, "stop"),
        '{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"other":{"a":1}}}',
        "[DONE]",
    ) == [Fragment("Hel"), Fragment("lo"), STOP, Usage(input_tokens=5, output_tokens=2)]


@calm
@given(st.lists(st.text(st.characters(), min_size=1)))
def test_any_text_comes_out_unchanged(texts: list[str]) -> None:
    """C2, C3: line ends of all kinds, NUL and lone surrogates are the writer's to deal with."""
    assert read(*map(text, texts), STOPPED) == [*map(Fragment, texts), STOP]


def test_the_halves_of_an_emoji_come_out_as_halves() -> None:
    """C3: split between two chunks, each is escaped alone; whoever joins fragments joins them."""
    halves = (r'{"choices":[{"delta":{"content":"\ud83d"}}]}', r'{"choices":[{"delta":{"content":"\ude00"}}]}')
    assert read(*halves, STOPPED) == [Fragment("\ud83d"), Fragment("\ude00"), STOP]


def test_what_a_model_says_when_it_declines_is_text() -> None:
    """It comes in a field of its own, in the place of the content."""
    assert read(chunk({"content": None, "refusal": "I can't"}), STOPPED) == [Fragment("I can't"), STOP]


@pytest.mark.parametrize("thought", [{"reasoning_content": "hm"}, {"reasoning": "hm"}, {"reasoning": [{"text": "hm"}]}])
def test_thoughts_are_no_text(thought: dict[str, Json]) -> None:
    """What a model says to itself, in whichever field, is not part of its reply; but it is not silent meanwhile."""
    assert read(chunk({**thought, "content": ""}), chunk({**thought, "content": "a"}), STOPPED) == [
        Working(), Fragment("a"), STOP,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "nothing",
    [
        "",
        "  ",
        "{}",
        '{"choices":[]}',
        '{"choices":null,"usage":null,"error":null}',
        '{"choices":[{}]}',
        '{"choices":[{"index":null,"delta":null,"finish_reason":null}]}',
        '{"choices":[{"delta":{"content":null,"tool_calls":null}}]}',
        '{"choices":[{"delta":{"content":"","tool_calls":[]},"finish_reason":""}]}',
        '{"choices":[{"index":1,"delta":{"content":"another choice"},"finish_reason":"length"}]}',
        '{"prompt_filter_results":[{"prompt_index":0}],"choices":[]}',
        '{"usage":{"prompt_tokens":null,"completion_tokens":7}}',
        '{"usage":{}}',
        '{"type":"ping"}',
    ],
)
def test_a_chunk_may_say_nothing(nothing: str) -> None:
    """Anything may be absent, null or empty, and is then not there."""
    assert read(nothing, text("a"), nothing, STOPPED, nothing) == [Fragment("a"), STOP]


def test_several_choices_are_one_reply() -> None:
    """All that is numbered 0, in the order in which it stands, whatever else is in the chunk."""
    choices: list[Json] = [
        {"index": index, "delta": {"content": text}} for index, text in ((0, "a"), (1, "x"), (None, "b"))
    ]
    assert read(json.dumps({"choices": choices}), STOPPED) == [Fragment("a"), Fragment("b"), STOP]


# --- The end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("function_call", FinishReason.OTHER),
        ("eos", FinishReason.OTHER),
    ],
)
def test_the_reason_is_told(word: str, reason: FinishReason) -> None:
    """In our words; for those of others that we do not know there is one."""
    assert read(chunk({"content": "a"}, word)) == [Fragment("a"), Finished(reason)]


def test_a_reason_alone_is_an_end() -> None:
    """Nothing was missing from the text, so a lost `[DONE]` costs nothing."""
    completion = Completion()
    assert not completion.complete
    completion.take(STOPPED)
    assert (completion.complete, completion.ended, completion.rest()) == (True, False, [STOP])


def test_an_end_alone_is_an_end() -> None:
    """A server that names no reason, but says that this was all, is taken at its word."""
    assert read(text("a"), " [DONE] ") == [Fragment("a"), Finished(FinishReason.OTHER)]


def test_nothing_comes_after_the_end() -> None:
    """What follows `[DONE]` is not read, garbage included."""
    assert read(text("a"), STOPPED, "[DONE]", text("b"), "garbage", "[DONE]") == [Fragment("a"), STOP]


def test_without_reason_or_end_a_reply_is_not_complete() -> None:
    """A connection that ends quietly in the middle of a sentence looks just like this; another try may succeed."""
    problem = "the model's server broke off in the middle of the reply"
    assert refusal() == refusal(text("a")) == (problem, False)


def test_the_newest_usage_counts() -> None:
    """Some servers count in every chunk, and with the reason instead of after it."""
    counts: list[Json] = [{"prompt_tokens": 5, "completion_tokens": number} for number in (1, 2, 3)]
    chunks = (chunk({"content": "a"}, usage=counts[0]), chunk({}, usage=counts[1]), chunk({}, "stop", usage=counts[2]))
    assert read(*chunks) == [Fragment("a"), STOP, Usage(input_tokens=5, output_tokens=3)]


# --- Tool calls -------------------------------------------------------------------------------------------------------


def call(
    index: int | None = None, id_: str | None = None, name: str | None = None, arguments: str | None = None
) -> str:
    """Return a chunk with a part of one call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields: dict[str, Json] = {"index": index, "id": id_, "function": {**function} or None}
    return chunk({"tool_calls": [{key: value for key, value in fields.items() if value is not None}]})


def called(*events: str) -> list[ToolCall]:
    """Read a reply and keep its calls."""
    return [piece for piece in read(*events, "[DONE]") if isinstance(piece, ToolCall)]


def test_a_call_is_put_together_and_told_at_the_end() -> None:
    """Behind all text, before the reason, as the text that the model wrote; each part of it is a sign of life."""
    assert read(
        text("a"),
        call(0, "call_x", "look_up", ""),
        call(0, arguments='{"or'),
        text("b"),
        call(0, arguments='der": 1}'),
        chunk({}, "tool_calls"),
    ) == [
        *(Fragment("a"), Working(), Working(), Fragment("b"), Working()),
        *(ToolCall("call_x", "look_up", '{"order": 1}'), Finished(FinishReason.TOOL_CALLS)),
    ]


ONE, TWO = ToolCall("x", "f", '{"a":1}'), ToolCall("y", "f", '{"a":2}')


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [call(0, "x", "f", '{"a"'), call(1, "y", "f", '{"a"'), call(0, arguments=":1}"), call(1, arguments=":2}")],
            id="interleaved",
        ),
        pytest.param([call(0, "x", "f", '{"a":1}'), call(0, "y", "f", '{"a":2}')], id="all numbered 0"),
        pytest.param(
            [call(0, "x", "f"), call(0, "", arguments='{"a":1}'), call(0, "y", "f"), call(0, "", arguments='{"a":2}')],
            id="all numbered 0, in parts",
        ),
        pytest.param([call(None, "x", "f", '{"a":1}'), call(None, "y", "f", '{"a":2}')], id="not numbered"),
        pytest.param(
            [call(7, "x", "f"), call(arguments='{"a":1}'), call(9, "y", "f"), call(arguments='{"a":2}')],
            id="numbered once, with holes",
        ),
        pytest.param(
            [call(0, "x", "f", '{"a"'), call(0, "z", "", ":1}"), call(1, "y", "f", '{"a"'), call(1, "z", None, ":2}")],
            id="a new id in every part",
        ),
        pytest.param(
            [call(0, "x", "f", '{"a"'), call(0, "x", "f", ":1}"), call(1, "y", "f", '{"a"'), call(1, "y", "f", ":2}")],
            id="id and name repeated",
        ),
        pytest.param(
            [
                call(0, None, "f", '{"a"'),
                call(0, "x", "f", ":1}"),
                call(0, None, "f", '{"a"'),
                call(0, "y", "f", ":2}"),
            ],
            id="id late, name repeated",
        ),
    ],
)
def test_calls_are_told_apart(events: list[str]) -> None:
    """By their numbers where they have any, by their ids and names where the numbers are of no use."""
    assert called(*events) == [ONE, TWO]


def test_calls_without_ids_get_keys() -> None:
    """A key is given where there is none, and none is given twice."""
    parts = [
        call(0, "call-1", "f", '{"a":0}'), call(1, None, "f", '{"a":1}'),
        call(2, "x", "f", '{"a":2}'), call(3, "x-4", "f", '{"a":3}'), call(4, "x", "f", '{"a":4}'),
    ]  # fmt: skip
    assert called(*parts) == [
        ToolCall("call-1", "f", '{"a":0}'), ToolCall("call-1-1", "f", '{"a":1}'),
        ToolCall("x", "f", '{"a":2}'), ToolCall("x-4", "f", '{"a":3}'), ToolCall("x-4-4", "f", '{"a":4}'),
    ]  # fmt: skip


@pytest.mark.parametrize("parts", [[call(0, "x", "f")], [call(0, "x", "f", "")], [call(0, "x", "f", " "), call(0)]])
def test_no_arguments_are_none(parts: list[str]) -> None:
    """A tool that takes none is called with an empty object, whatever the server makes of it."""
    assert called(*parts) == [ToolCall("x", "f", "{}")]


def test_what_a_call_says_can_be_stored() -> None:
    """C3: what UTF-8 cannot hold is replaced, the halves of an emoji from two parts are joined."""
    first, second = call(0, "x\ud83d", "f\x00", '{"a":"\ud83d'), call(0, arguments='\ude00"}')
    assert called(first, second) == [ToolCall("x\ufffd", "f\ufffd", '{"a":"😀"}')]


@pytest.mark.parametrize(
    "part",
    [
        call(0, "x", "f", '{"a":'),
        call(0, "x", "f", "[1]"),
        call(0, "x", "f", "null"),
        call(0, "x", "f", '{"a":1}{"a":2}'),
        call(0, "x", "f", '{"a":NaN}'),
        call(0, "x", "f", '{"a":' + "[" * 100_000),
        call(0, "x", "f", '{"a":' + "[" * 100 + "]" * 100 + "}"),
        call(0, "x", "f", '{"a":"\\ud83d"}'),
        call(0, "x", None, "{}"),
        call(0, "x"),
    ],
)
@pytest.mark.parametrize("reason", ["tool_calls", "length"])
def test_half_a_call_is_no_call(part: str, reason: str) -> None:
    """Cut short, or garbled by the model: none of it is passed on, and another try may go better."""
    assert refusal(part, chunk({}, reason)) == ("the model wrote a tool call that cannot be read", False)


def test_what_is_passed_on_can_be_looked_into() -> None:
    """Arguments of a hundred levels are; whoever shows a run cuts what is long in them, level by level."""
    (whole,) = called(call(0, "x", "f", '{"a":' + "[" * 99 + "]" * 99 + "}"))
    arguments = decode_data(whole.arguments)
    assert shortened(arguments) == arguments


@calm
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(-9, 9)), st.data())
def test_arguments_are_an_object_wherever_they_are_cut(arguments: dict[str, int], draw: st.DataObject) -> None:
    """Any cut of an object's text gives that object."""
    written = json.dumps(arguments)
    at = draw.draw(st.integers(0, len(written)))
    (whole,) = called(call(0, "x", "f", written[:at]), call(0, arguments=written[at:]))
    assert decode_data(whole.arguments) == arguments


# --- Errors -----------------------------------------------------------------------------------------------------------


def test_what_is_not_json_fails_the_reply() -> None:
    """To pass over it could be to leave out a word."""
    problem = "the model's server sent a chunk that is not JSON"
    for garbage in ("garbage", '{"choices":[', "9" * 5000, "[" * 100_000, "data: {}"):
        assert refusal(text("a"), garbage, STOPPED) == (problem, False)


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ("5", "Expected `object`, got `int`"),
        ("[]", "Expected `object`, got `array`"),
        ("null", "Expected `object`, got `null`"),
        ('{"choices":5}', "Expected `array | null`, got `int` - at `$.choices`"),
        (
            '{"choices":[{"delta":{"content":["a"]}}]}',
            "Expected `str | null`, got `array` - at `$.choices[0].delta.content`",
        ),
        (
            '{"choices":[{"delta":{"tool_calls":[{"index":"0"}]}}]}',
            "Expected `int | null`, got `str` - at `$.choices[0].delta.tool_calls[0].index`",
        ),
    ],
)
def test_a_chunk_of_another_shape_fails_the_reply(data: str, where: str) -> None:
    """What was expected is told, and nothing of what was found."""
    assert refusal(text("a"), data, STOPPED) == (f"the model's server sent a chunk of an unknown shape: {where}", False)


@pytest.mark.parametrize(
    ("error", "said", "permanent"),
    [
        ({"message": "overloaded", "type": "server_error"}, "overloaded", False),
        ({"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}, "too long", True),
        ({"message": "slow down", "code": 429}, "slow down", False),
        ({"message": "slow down", "code": "429", "type": "invalid_request_error"}, "slow down", False),
        ({"message": "no such model", "code": 404}, "no such model", True),
        ({"message": "no such model", "code": "404"}, "no such model", True),
        ({"message": "gone", "code": 502}, "gone", False),
        ({"message": "?", "code": True}, "?", False),
        ({"message": "?", "code": 20}, "?", False),
        ({"message": None, "code": None}, '{"message": null, "code": null}', False),
        ("out of memory", "out of memory", False),
        (["what"], '["what"]', False),
    ],
)
def test_an_error_inside_the_stream_fails_the_reply(error: Json, said: str, permanent: bool) -> None:
    """Whether another try is worth it, its code says where it is a status, else its type; its words are kept apart."""
    completion = Completion()
    completion.take(text("a"))
    with pytest.raises(Refused) as refused:
        completion.take(chunk({"content": ""}, "error", error=error))
    told = refused.value
    assert (told.problem, told.said, told.permanent) == ("the model's server reported an error", said, permanent)


def test_an_error_may_be_the_whole_chunk() -> None:
    """As vLLM does it: the error itself, marked by its `object`."""
    event = '{"object":"error","message":"too long","type":"BadRequestError","code":400}'
    assert refusal(text("a"), event, "[DONE]") == ("the model's server reported an error", True)


def test_an_error_may_be_no_more_than_a_reason() -> None:
    """A reply that ends with an error is not complete."""
    assert refusal(text("a"), chunk({}, "error"), "[DONE]") == (
        "the model's server ended the reply with an error", False,
    )  # fmt: skip
