"""Episodes of several turns in reports, training sets and comparisons."""

import json

import pytest

from grpo_env.core import Call, Result, Turn
from grpo_env.errors import UsageError
from grpo_env.results.compare.comparison import Comparison, compare
from grpo_env.results.export import ExportSummary, export, export_file, make_kind
from grpo_env.results.report.page import render
from grpo_env.results.report.report import make_report

CALL = '<tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call>'
PROMPT = [{"role": "user", "content": "Tea?"}]
TOOLS = [{"type": "function", "function": {"name": "price", "description": "", "parameters": {}}}]


def turns(answer="3", problem="", reply=None):
    texts = [f"<think>Look.</think>{CALL}", f"It is {answer}."]
    calls = (Call("c1", "price", {"item": "tea"}),) if problem != "unreadable" else (Call("c1", "", {}),)
    first = Turn(texts[0], calls, (Result("c1", "<b>3</b>", problem),), "stop", 0, len(texts[0]))
    last = Turn(texts[1], finish="stop", start=first.end, end=first.end + len(texts[1]), reply=reply)
    return first, last


@pytest.fixture
def episode(row):
    """Makes a score row of an episode with a step score of 0.5 for its first turn and 1 for its last."""

    def make(completion=0, correct=1, of=None, **more):
        of = of or turns()
        text = "".join(turn.text for turn in of)
        values = [0.5, 1.0]
        steps = [
            {"start": t.start, "end": t.end, "value": v, "explanation": "e"} for t, v in zip(of, values, strict=False)
        ]
        made = row(0, completion, correct, text=text, steps=steps, **more)
        made["parts"]["tidy"]["steps"] = steps
        return {**made, "prompt": PROMPT, "turns": [turn.to_dict() for turn in of]}

    return make


def test_a_training_set_for_sft_has_the_calls_apart_from_the_text(episode):
    (row,) = export([episode(tools=TOOLS)], make_kind("sft", {}), ExportSummary())
    call = {"id": "c1", "type": "function", "function": {"name": "price", "arguments": {"item": "tea"}}}
    assert row["completion"] == [
        {"role": "assistant", "content": "<think>Look.</think>", "tool_calls": [call]},
        {"role": "tool", "name": "price", "tool_call_id": "c1", "content": "<b>3</b>"},
        {"role": "assistant", "content": "It is 3."},
    ]
    assert (row["prompt"], json.loads(row["tools"])) == (PROMPT, TOOLS)


def thinking_of_a_call(tag):
    thoughts = f"<{tag}>Or {CALL.replace('tea', 'rice')}?</{tag}>"
    text = f"{thoughts}{CALL}"
    return thoughts, Turn(text, turns()[0].calls, turns()[0].results, "stop", 0, len(text))


def test_a_call_in_the_thoughts_stays_there(episode):
    thoughts, turn = thinking_of_a_call("think")
    (row,) = export([episode(of=(turn,))], make_kind("sft", {}), ExportSummary())
    assert row["completion"][0]["content"] == thoughts


def test_a_call_in_thoughts_of_another_tag_is_not_cut_out_with_the_calls(episode):
    _, turn = thinking_of_a_call("scratch")
    summary = ExportSummary()
    assert list(export([episode(of=(turn,))], make_kind("sft", {}), summary)) == []
    assert summary.left_out == {"episodes whose calls cannot be told from their texts": 1}


def test_a_call_that_no_template_can_write_stays_in_the_text(episode):
    (row,) = export([episode(of=turns(problem="unreadable"))], make_kind("sft", {}), ExportSummary())
    assert row["completion"][0] == {"role": "assistant", "content": f"<think>Look.</think>{CALL}"}
    assert "tools" not in row


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "price", "arguments": {"item": "tea"}}]',  # [TOOL_CALLS] is a special token, which texts have not
        'Let me see. price{"item": "tea"}',
        "<function=price><parameter=item>tea</parameter></function>",  # by a tokenizer's own response schema
    ],
)
def test_calls_that_are_not_found_in_the_text_are_not_written_twice(episode, text):
    first = Turn(text, turns()[0].calls, turns()[0].results, "stop", 0, len(text))
    last = Turn("It is 3.", finish="stop", start=len(text), end=len(text) + 8)
    rows = [episode(0, 1, of=(first, last)), episode(1, 0)]
    for kind in ("sft", "dpo"):
        summary = ExportSummary()
        assert list(export(rows, make_kind(kind, {}), summary)) == []
        assert summary.left_out["episodes whose calls cannot be told from their texts"] == 1
    assert len(list(export(rows, make_kind("prm", {}), ExportSummary()))) == 2


def test_pairs_are_conversations_and_the_same_text_with_other_results_is_no_duplicate(episode):
    other = turns()
    other = (Turn.from_dict({**other[0].to_dict(), "results": [Result("c1", "4", "")._asdict()]}), other[1])
    rows = [episode(0, 1), episode(1, 0), episode(2, 0), episode(3, 0, of=other)]
    summary = ExportSummary()
    (row,) = export(rows, make_kind("dpo", {}), summary)
    assert [message["role"] for message in row["rejected"]] == ["assistant", "tool", "assistant"]
    assert summary.left_out == {"duplicates": 2}


def test_a_step_of_a_process_reward_model_is_a_turn_after_what_the_model_was_told(episode):
    (row,) = export([episode()], make_kind("prm", {"min_step": 0.75}), ExportSummary())
    assert row["completions"] == [f"<think>Look.</think>{CALL}", "price: <b>3</b>\nIt is 3."]
    assert (row["labels"], row["prompt"]) == ([False, True], "Tea?")
    only_last = episode()
    only_last["parts"]["tidy"]["steps"] = only_last["parts"]["tidy"]["steps"][1:]
    (row,) = export([only_last], make_kind("prm", {}), ExportSummary())
    assert row["completions"] == [f"<think>Look.</think>{CALL}\nprice: <b>3</b>\nIt is 3."]


def test_tools_and_calls_are_refused_in_parquet_and_written_as_jsonl(episode, tmp_path):
    silent = episode(of=[Turn("It is 3.", end=8)], tools=TOOLS)  # it called none of its tools
    for made in (episode(), silent):
        with pytest.raises(UsageError, match=r"tools cannot be written as Parquet; give a name that ends in \.jsonl"):
            export_file([made], make_kind("sft", {}), tmp_path / "sft.parquet")
    assert not list(tmp_path.iterdir())
    export_file([episode()], make_kind("sft", {}), tmp_path / "sft.jsonl")
    row = json.loads((tmp_path / "sft.jsonl").read_text())
    assert row["completion"][0]["tool_calls"][0]["function"]["arguments"] == {"item": "tea"}


def test_the_report_shows_turns_results_and_the_score_of_each_turn(episode):
    rows = [episode(0, 1, of=turns(reply="Thanks.")), episode(1, 0, of=turns("4", "unknown_tool"))]
    rows[1]["turns"] = json.dumps(rows[1]["turns"])  # as Parquet has them
    page = render(make_report(rows))
    assert page.count("turn 1, step score <b>+0.5</b>") == page.count("turn 2, step score <b>+1</b>") >= 2
    assert "<b>price:</b> &lt;b&gt;3&lt;/b&gt;" in page
    assert "<b>price (unknown tool):</b>" in page
    assert "<b>reply:</b> Thanks." in page


def test_a_comparison_finds_the_episodes_whose_verdict_changed(episode):
    a, b = [episode(0, 1), episode(1, 0)], [episode(0, 1), episode(1, 1)]
    result = Comparison()
    (changed,) = compare(a, b, None, result)
    assert (changed.a["completion"], result.pairs, result.parts["accuracy"].changed) == (1, 2, 1)
