"""Tool calls in texts, as the chat templates of the families write them."""

import math
from itertools import product

import pytest

from grpo_env.environments.calls import MAX_CALL, MAX_CALLS, parse_calls, spoken
from grpo_env.environments.tools import wrong_arguments

TEA = ("price", {"item": "tea"})
# Hermes 2 Pro, Qwen2.5, Qwen3: the template writes '<tool_call>\n{"name": ..., "arguments": ...}\n</tool_call>'.
HERMES = '<tool_call>\n{"name": "price", "arguments": {"item": "tea"}}\n</tool_call>'
# Llama 3.1: '{"name": "...", "parameters": {...}}', after <|python_tag|> where built-in tools are on.
LLAMA = '{"name": "price", "parameters": {"item": "tea"}}'
# Mistral 7B v0.3: '[TOOL_CALLS] [{"name": ..., "arguments": ..., "id": ...}]'; Magistral and later: name[ARGS]{...}.
MISTRAL = '[TOOL_CALLS] [{"name": "price", "arguments": {"item": "tea"}, "id": "abcdefghi"}]'

# Qwen3-Coder: "<tool_call>\n<function=name>\n<parameter=key>\nvalue\n</parameter>\n</function>\n</tool_call>".
CODER = "<tool_call>\n<function=price>\n<parameter=item>\ntea\n</parameter>\n</function>\n</tool_call>"

READ = {
    "hermes": (HERMES, [TEA]),
    "hermes after words": (f"Let me look.\n{HERMES}<|im_end|>", [TEA]),
    "hermes, two": (f"{HERMES}\n{HERMES}", [TEA, TEA]),
    "hermes after thoughts": (f"<think>\nI look it up.\n</think>\n\n{HERMES}", [TEA]),
    "thoughts begun by the prompt": (f"I look it up.</think>{HERMES}", [TEA]),
    "arguments in a string": (HERMES.replace('{"item": "tea"}', r'"{\"item\": \"tea\"}"'), [TEA]),
    "no arguments": ('<tool_call>{"name": "all"}</tool_call>', [("all", {})]),
    "coder": (f"I look it up.\n{CODER}<|im_end|>", [TEA]),
    "coder, two": (f"{CODER}\n{CODER}", [TEA, TEA]),
    "coder, in one line": (CODER.replace("\n", ""), [TEA]),
    "coder, a parameter that is not closed": (CODER.replace("</parameter>\n", ""), [TEA]),  # vllm#23099
    "coder, no arguments": ("<tool_call><function=all></function></tool_call>", [("all", {})]),
    "coder, lines": (CODER.replace("tea", "  a\n\n</b> c"), [("price", {"item": "  a\n\n</b> c"})]),
    "llama": (LLAMA, [TEA]),
    "llama, tagged": (f"<|python_tag|>{LLAMA}<|eom_id|>", [TEA]),
    "llama, two": (f"{LLAMA}; {LLAMA}", [TEA, TEA]),
    "llama 3.2": ('{"type": "function", "name": "price", "parameters": {"item": "tea"}}', [TEA]),
    "mistral": (MISTRAL, [TEA]),
    "mistral, two": (MISTRAL[:-1] + ', {"name": "price", "arguments": {"item": "tea"}}]</s>', [TEA, TEA]),
    "magistral": ('[TOOL_CALLS]price[ARGS]{"item": "tea"}[TOOL_CALLS]price[ARGS]{"item": "tea"}', [TEA, TEA]),
    "devstral": ('[TOOL_CALLS]price[CALL_ID]abcdefghi[ARGS]{"item": "tea"}', [TEA]),
}

NO_CALL = {
    "words": "The price is 3.",
    "in the thoughts": f"<think>{HERMES}</think>3",
    "in open thoughts": f"<think>{HERMES}",
    "an answer in JSON": '{"total": 7}',
    "JSON inside words": f"I would write {LLAMA}",
    "nothing": "",
}

UNREADABLE = {
    "not closed": HERMES.removesuffix("</tool_call>"),
    "no JSON": "<tool_call>price(tea)</tool_call>",
    "single quotes": HERMES.replace('"', "'"),
    "two objects": HERMES.replace("}}", "}} {}"),
    "two objects in a string": HERMES.replace('{"item": "tea"}', r'"{\"item\": \"tea\"}{\"item\": \"tea\"}"'),
    "magistral, two objects": '[TOOL_CALLS]price[ARGS]{"item": "tea"}{"item": "tea"}',
    "coder, not closed": CODER.replace("</function>", ""),
    "coder, two functions": CODER.replace("</tool_call>", "<function=price></function>\n</tool_call>"),
    "coder, words": CODER.replace("<parameter", "tea <parameter"),
    "coder, twice": CODER.replace("</function>", "<parameter=item>rice</parameter></function>"),
    "coder, huge": CODER.replace("tea", "t" * MAX_CALL),
    "no name": '<tool_call>{"arguments": {}}</tool_call>',
    "a list of arguments": '<tool_call>{"name": "price", "arguments": ["tea"]}</tool_call>',
    "not a number": '<tool_call>{"name": "price", "arguments": {"item": NaN}}</tool_call>',
    "too large": '<tool_call>{"name": "price", "arguments": {"item": -1e999}}</tool_call>',
    "too large, in a string": r'<tool_call>{"name": "price", "arguments": "{\"item\": 1e999}"}</tool_call>',
    "deep": '<tool_call>{"name": "price", "arguments": {"item": ' + "[" * 50_000 + "</tool_call>",
    "digits": '<tool_call>{"name": "price", "arguments": {"item": ' + "9" * 5_000 + "}}</tool_call>",
    "huge": HERMES.replace("tea", "t" * (MAX_CALL + 1)),
    "lone surrogate": HERMES.replace("tea", "\ud800"),
    "llama, cut": LLAMA[:-3],
    "llama's code": '<|python_tag|>price.call(item="tea")',
    "mistral, no list": "[TOOL_CALLS] tea",
}


@pytest.mark.parametrize("name", READ)
def test_calls_of_every_family_are_read(name):
    text, expected = READ[name]
    assert [(call.name, dict(call.arguments), call.problem) for call in parse_calls(text, "think")] == [
        (*call, "") for call in expected
    ]


@pytest.mark.parametrize("name", NO_CALL)
def test_other_texts_have_no_calls(name):
    assert parse_calls(NO_CALL[name], "think") == []


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_a_problem_in_one_line(name):
    if name == "lone surrogate":
        assert parse_calls(UNREADABLE[name], "think")[0].name == "price"  # JSON can escape it
        return
    (call,) = parse_calls(UNREADABLE[name], "think")
    assert call.name == ""
    assert call.problem
    assert len(call.problem) < 350
    assert "\n" not in call.problem


NUMBERS = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
PARAMETERS = {"properties": {"l": NUMBERS, "d": {"type": "object", "additionalProperties": {"enum": ["a"]}}}}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"l": [[1, 2.5], []], "d": {"k": "a"}}, None),
        ({"l": [[1], [2, "3"]]}, "the argument l[1][1] must be number, not string"),
        ({"l": [[1], None]}, "the argument l[1] must be array, not null"),
        ({"l": 1}, "the argument l must be array, not integer"),
        ({"d": {"k": "a", "m": "b"}}, "the argument d['m'] must be one of 'a', not string"),
    ],
)
def test_a_wrong_argument_is_described_by_the_value_that_does_not_fit(arguments, problem):
    assert wrong_arguments([{"function": {"name": "f", "parameters": PARAMETERS}}], "f", arguments) == problem


def test_a_prefill_may_open_the_thoughts():
    assert parse_calls(f"Perhaps {HERMES}", "think", prefill="<think>\n") == []
    assert len(parse_calls(f"Surely.</think>{HERMES}", "think", prefill="<think>\n")) == 1
    assert len(parse_calls(HERMES, "think", prefill="Now:")) == 1


@pytest.mark.parametrize("prefill", ["", "<t>", "<t>x</t>", "x", "<t>x</t>y<t>"])
def test_what_is_spoken_is_what_a_reader_sees_outside_of_the_last_block(prefill):
    for parts in (parts for count in range(6) for parts in product(["a", "<t>", "</t>"], repeat=count)):
        text, seen, inside = "".join(parts), "", False
        whole = prefill + text
        at = whole.rfind("</t>") + 4 if "</t>" in whole else 0
        for place in range(at, len(whole)):
            inside = inside or whole.startswith("<t>", place)
            seen += whole[place] if not inside and place >= len(prefill) else ""
        assert spoken(text, "t", prefill) == seen, parts


def test_the_calls_of_a_turn_are_bounded():
    calls = parse_calls(HERMES * 1000, "think")
    assert len(calls) == MAX_CALLS + 1
    assert "at most 32" in calls[-1].problem


def test_a_tokenizers_own_parser_comes_first():
    def parser(text):
        return {"tool_calls": [{"type": "function", "function": {"name": "price", "arguments": {"item": text}}}]}

    assert parse_calls("tea", "think", parser)[0][:2] == ("price", {"item": "tea"})
    (call,) = parse_calls(math.inf, None, parser)  # of a schema whose numbers are floats of Python
    assert (call.name, call.arguments) == ("", {})
    assert "not JSON" in call.problem


def test_a_parser_that_fails_is_a_problem():
    (call,) = parse_calls("tea", "think", lambda text: 1 / 0)
    assert "ZeroDivisionError" in call.problem


PROPERTIES = {
    "zip": {"type": "string"},
    "age": {"type": "integer"},
    "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    "is_new": {"type": ["boolean", "null"]},
    "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "items": {"type": "array", "items": {"type": "object"}},
    "odd": {"type": 7, "anyOf": 7},
}


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("zip", "03106", "03106"),
        ("zip", '"a"', '"a"'),
        ("age", "32", 32),
        ("age", "thirty", "thirty"),
        ("age", "1 2", "1 2"),
        ("share", "0.5", 0.5),
        ("share", "None", None),
        ("is_new", "True", True),
        ("is_new", "false", False),
        ("either", "32", "32"),
        ("items", '[{"a": [1]}]', [{"a": [1]}]),
        ("items", "[" * 50_000, "[" * 50_000),
        ("unknown", "32", "32"),
    ],
)
def test_values_without_quotes_have_the_types_of_the_tool(key, text, value):
    """sglang#13411: whether 03106 is a number or a text can only be known from the tool."""
    schema = {"name": "price", "parameters": {"type": "object", "properties": PROPERTIES}}
    written = CODER.replace("item", key).replace("tea", text)
    (call,) = parse_calls(written, "think", tools=[{"type": "function", "function": schema}])
    assert call.arguments == {key: value}
    assert type(call.arguments[key]) is type(value)
    (call,) = parse_calls(written, "think")
    assert call.arguments == {key: text}


def test_a_schema_of_a_file_may_be_anything():
    for parameters in ({}, {"properties": 7}, {"properties": {"item": 7}}, {"properties": {"item": {"type": 7}}}):
        (call,) = parse_calls(CODER, "think", tools=[{"function": {"name": "price", "parameters": parameters}}])
        assert call.arguments["item"] == "tea"
