"""Episodes that other tools recorded are scored: turns with calls and results, without a state."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from grpo_env.core import Call, Result
from grpo_env.rows.formats.detect import detect_format
from grpo_env.rows.reader import Record
from grpo_env.scoring import Fields, OutputFile, score_files
from grpo_env.scoring.input_file import InputFile
from grpo_env.scoring.row_reader import RowReader
from grpo_env.scoring.score_row import score_row
from grpo_env.scoring.scorer import score_rows
from grpo_env.taskfile.task import make_task

HERE = Path(__file__).parents[1] / "environments"  # of till.py
PROMPT = [{"role": "user", "content": "Tea and rice?"}]


def call(id, item, key="item", name="price"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps({key: item})}}


def told(id, text):
    return {"role": "tool", "tool_call_id": id, "content": text}


# Two calls in one turn, answered in the other order; a call with a wrong argument; the answer.
CHAT = [
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Look.",
        "tool_calls": [call("a", "tea"), call("b", "rice")],
    },
    told("b", "4"),
    told("a", "3"),
    {"role": "assistant", "content": "Once more.", "tool_calls": [call("c", "rice", key="goods")]},
    told("c", "Error"),
    {"role": "assistant", "content": "<answer>7</answer>"},
]
TOOL = {
    "name": "price",
    "parameters": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
}
WRITTEN = [
    "<think>\nLook.\n</think>\n\n"
    '<tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call>\n'
    '<tool_call>{"name": "price", "arguments": {"item": "rice"}}</tool_call>',
    'Once more.\n<tool_call>{"name": "price", "arguments": {"goods": "rice"}}</tool_call>',
    "<answer>7</answer>",
]


def a_task(folder, verifiers=None, **environment):
    (folder / "rows.jsonl").write_text('{"total": "7", "question": "Tea and rice?"}\n')
    data = {
        "version": 1,
        "task": "till",
        "dataset": {
            "path": str(folder / "rows.jsonl"),
            "split": {"train": "train", "eval": "train"},
            "answer": "{{ total }}",
        },
        "prompt": {"user": "{{ question }}"},
        "verifiers": verifiers or {"accuracy": {}},
        "metric": next(iter(verifiers or {"accuracy": {}})),
        **({"environment": environment} if environment else {}),
    }
    return make_task(data, "till.yaml", HERE)


def score(folder, task, *rows):
    """The score rows of input rows."""
    source = folder / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = InputFile(source, task, Fields())
    reader = file.reader(task.examples("eval"), prompts=True)
    results = score_rows(task, [reader.read(line) for line in file.rows()])
    assert [result.problem for result in results] == [""] * len(rows)
    return [json.loads(json.dumps(score_row(task, result, 0))) for result in results]


def conversation(**columns):
    return {"messages": [*PROMPT, *CHAT], "total": "7", **columns}


def test_a_conversation_becomes_turns_with_their_calls_and_results(tmp_path):
    (row,) = score(tmp_path, a_task(tmp_path), conversation())
    assert [turn["text"] for turn in row["turns"]] == WRITTEN
    assert row["text"] == "".join(WRITTEN)
    assert row["prompt"] == PROMPT
    first, second, last = row["turns"]
    assert [Call(**c) for c in first["calls"]] == [("a", "price", {"item": "tea"}), ("b", "price", {"item": "rice"})]
    assert [Result(**r) for r in first["results"]] == [("a", "3", "unknown"), ("b", "4", "unknown")]
    assert [(turn["start"], turn["end"]) for turn in row["turns"]][1] == (len(WRITTEN[0]), len(WRITTEN[0] + WRITTEN[1]))
    assert {"reply", "state"}.isdisjoint(second.keys() | last.keys())
    assert (last["calls"], row["total"]) == ([], 1.0)
    assert detect_format([conversation()], lambda row: row["total"]).name == "OpenAI conversations"


def test_calls_are_judged_only_where_the_tools_are_known(tmp_path):
    verifiers = {"tool_calls": {"weight": 1.0, "process": 1.0}}
    (row,) = score(tmp_path, a_task(tmp_path, verifiers), conversation())
    assert (row["total"], row["status"]) == (None, "not_applicable")
    assert "does not say which tools there were" in row["explanation"]
    (row,) = score(tmp_path, a_task(tmp_path, verifiers), conversation(tools=[TOOL]))
    assert (row["total"], [step["value"] for step in row["steps"]]) == (0.5, [1, 0])
    assert row["turns"][1]["results"] == [{"id": "c", "text": "Error", "problem": "wrong_arguments"}]
    (row,) = score(tmp_path, a_task(tmp_path, verifiers, use="till.py:Till"), conversation())
    assert row["total"] == 0.5
    assert row["tools"][0]["function"]["name"] == "price"
    (row,) = score(tmp_path, a_task(tmp_path, verifiers), conversation(tools=[{**TOOL, "name": "buy"}]))
    assert (row["total"], row["turns"][0]["results"][0]["problem"]) == (0.0, "unknown_tool")


CODER = "<tool_call>\n<function={}>\n<parameter={}>\n{}\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ({"content": "", "tool_calls": [call("a", "tea")]}, 1.0),
        # Two objects are no arguments (hermes-agent#6841), and the text shows what was written.
        (
            {
                "content": "",
                "tool_calls": [{"function": {"name": "price", "arguments": '{"item": "pen"}{"item": "pen"}'}}],
            },
            0.0,
        ),
        ({"content": CODER.format("price", "item", "007")}, 1.0),
        ({"content": CODER.format("price", "count", "7")}, 1.0),
        ({"content": CODER.format("price", "count", "seven")}, 0.0),
        ({"content": CODER.format("buy", "item", "tea")}, 0.0),
    ],
)
def test_calls_of_other_models_are_judged_by_their_tools(tmp_path, message, value):
    types = {"item": {"type": "string"}, "count": {"type": "integer"}}
    tools = [{"name": "price", "parameters": {"type": "object", "properties": types}}]
    chat = [{"role": "assistant", **message}, told("a", "3"), {"role": "assistant", "content": "<answer>7</answer>"}]
    row = {"messages": [*PROMPT, *chat], "tools": tools, "total": "7"}
    for on in ("last", "each"):  # the answer without a call is no fault
        verifiers = {"tool_calls": {"on": on, "weight": 1.0, "process": 1.0}}
        (scored,) = score(tmp_path, a_task(tmp_path, verifiers), row)
        assert (scored["total"], [step["value"] for step in scored["steps"]]) == (value, [value])
    if "tool_calls" in message and not value:
        assert '{"item": "pen"}{"item": "pen"}' in scored["text"]


def test_a_state_is_unknown_and_a_reward_only_known_where_the_row_has_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    (row,) = score(tmp_path, a_task(tmp_path, {"stocked": {"use": "till:Stocked", "on": "state"}}), conversation())
    assert (row["total"], row["status"], row["explanation"]) == (
        None,
        "not_applicable",
        "stocked: no state of an environment was recorded",
    )
    paid = {"environment_reward": {}}
    rows = [conversation(), conversation(reward=0.5), conversation(reward=None), conversation(reward="0.5")]
    rows += [conversation(reward=0.5, Till=1), conversation(reward=0.5, Till=1, environment_reward=0.25)]
    totals = [row["total"] for row in score(tmp_path, a_task(tmp_path, paid, use="till.py:Till"), *rows)]
    assert totals == [None, 0.5, None, None, 1.0, 0.25]


def test_calls_in_the_text_and_replies_of_a_user(tmp_path):
    written = '<tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call>'
    chat = [
        {"role": "assistant", "content": written},
        {"role": "tool", "content": "3"},
        {"role": "assistant", "content": "Tea is 3."},
        {"role": "user", "content": "And rice?"},
        {"role": "assistant", "content": "<tool_call>{</tool_call>"},
        {"role": "assistant", "content": "<answer>7</answer>"},
    ]
    (row,) = score(tmp_path, a_task(tmp_path), {"messages": [*PROMPT, *chat], "total": "7"})
    assert row["text"] == f"{written}Tea is 3.<tool_call>{{</tool_call><answer>7</answer>"
    assert [turn.get("reply") for turn in row["turns"]] == [None, "And rice?", None, None]
    assert row["turns"][0]["results"] == [{"id": "call00001", "text": "3", "problem": "unknown"}]
    assert row["turns"][2]["results"] == [{"id": "call00001", "text": "", "problem": "unreadable"}]
    assert row["total"] == 1.0


@pytest.mark.parametrize("content", ["Shall I <tool_call> now?", "<think>\n<tool_call>{}</tool_call>\n</think>\n", ""])
def test_recorded_calls_are_in_the_text_whatever_the_content_mentions(tmp_path, content):
    chat = [
        {"role": "assistant", "content": content, "tool_calls": [call("a", "tea")]},
        {"role": "tool", "content": "3"},
    ]
    written = WRITTEN[0].splitlines()[4]
    (row,) = score(tmp_path, a_task(tmp_path), {"completion": chat, "total": "7"})
    assert row["text"] == "\n".join(filter(None, [content, written]))
    chat[0]["content"] = f"{content}{written}"  # some servers leave them there too
    (row,) = score(tmp_path, a_task(tmp_path), {"completion": chat, "total": "7"})
    assert row["text"].count(written) == (2 if content.startswith("Shall") else 1)


def test_a_row_of_trl_has_null_arguments_where_other_calls_have_values(tmp_path):
    """Arrow fills them in: all calls of a table have the same arguments. Results have no ids there."""
    calls = [{"type": "function", "function": {"name": "price", "arguments": {"item": "tea", "goods": None}}}]
    chat = [
        {"role": "assistant", "content": "", "tool_calls": calls, "name": None},
        {"role": "tool", "content": "3", "tool_calls": None, "name": "price"},
        {"role": "assistant", "content": "<answer>7</answer>", "tool_calls": None, "name": None},
    ]
    row = {
        "step": 1,
        "prompt": PROMPT,
        "completion": chat,
        "advantage": 0.0,
        "total": "7",
        "Till": 0.5,
        "tools": [TOOL],
    }
    verifiers = {"accuracy": {}, "tool_calls": {}, "environment_reward": {}}
    (row,) = score(tmp_path, a_task(tmp_path, verifiers, use="till.py:Till"), row)
    assert {name: part["value"] for name, part in row["parts"].items()} == {
        "accuracy": 1,
        "tool_calls": 1,
        "environment_reward": 0.5,
    }


def a_trace(**changes):
    """An episode of verifiers 0.4.0, ``trace_store.write_episode`` (null fields left out), with an abandoned branch."""
    flat = [{"id": "a", "type": "function", "name": "price", "arguments": '{"item":"tea"}'}]
    nodes = [
        {"message": PROMPT[0], "sampled": False},
        {"parent": 0, "message": {"role": "assistant", "content": "Hm?"}, "sampled": True},
        {"parent": 0, "message": {"role": "assistant", "tool_calls": flat}, "sampled": True},
        {"parent": 2, "message": {"role": "tool", "tool_call_id": "a", "content": "3"}, "sampled": False},
        {"parent": 3, "message": {"role": "assistant", "content": "<answer>7</answer>"}, "sampled": True},
    ]
    task = {"type": "Till", "data": {"idx": 0, "prompt": "Tea and rice?", "total": "7"}, "key": "k", "hash": "h"}
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    calls = [{"node": 2, "finish_reason": "tool_calls", "usage": usage}]
    calls += [{"node": 4, "finish_reason": "stop", "usage": usage}]
    rewards = {"fair": {"score": 0.5, "weight": 2.0}, "short": {"score": 1.0, "weight": 0.25}}
    trace = {
        "version": 1,
        "task": task,
        "nodes": nodes,
        "calls": calls,
        "rewards": rewards,
        "ok": True,
        "tools": [TOOL],
    }
    return {"id": "e", "env": {"id": "till"}, "task": task, "ok": True, "traces": [{**trace, **changes}]}


def test_a_trace_of_verifiers_is_the_path_to_its_last_message(tmp_path):
    task = a_task(tmp_path, {"accuracy": {}, "tool_calls": {}, "environment_reward": {}})
    rows = [a_trace(), a_trace(stop_condition="max_turns"), a_trace(stop_condition="max_total_tokens", rewards={})]
    first, second, third = score(tmp_path, task, *rows)
    assert [turn["text"] for turn in first["turns"]] == [WRITTEN[0].splitlines()[4], WRITTEN[2]]
    assert {name: part["value"] for name, part in first["parts"].items()} == {
        "accuracy": 1,
        "tool_calls": 1,
        "environment_reward": 1.25,
    }
    assert (first["num_tokens"], first["finish_reason"], first["id"]) == (8, "stop", "0")
    assert (second["finish_reason"], third["finish_reason"]) == ("turns", "length")
    assert third["parts"]["environment_reward"]["status"] == "not_applicable"


def test_results_of_verifiers_have_calls_as_json(tmp_path):
    """verifiers 0.1.14, ``sanitize_tool_calls`` and ``state_to_output``: ``model_dump_json`` of its flat calls."""
    call = json.dumps({"id": "a", "name": "price", "arguments": '{"item": "tea"}'})
    chat = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "3"},
        {"role": "assistant", "content": "<answer>7</answer>"},
    ]
    row = {"example_id": 0, "prompt": PROMPT, "completion": chat, "reward": 1.0, "error": None, "total": "7"}
    task = a_task(tmp_path, {"accuracy": {}, "tool_calls": {}})
    (known,) = score(tmp_path, task, {**row, "tool_defs": [TOOL]})
    assert {name: part["value"] for name, part in known["parts"].items()} == {"accuracy": 1, "tool_calls": 1}
    assert [turn["text"] for turn in known["turns"]] == [WRITTEN[0].splitlines()[4], WRITTEN[2]]
    (unknown,) = score(tmp_path, task, {**row, "tool_defs": None})
    assert unknown["parts"]["tool_calls"]["status"] == "not_applicable"


def test_a_batch_whose_reply_is_a_call_is_an_episode_of_one_turn(tmp_path):
    choice = {"message": {"role": "assistant", "content": None, "tool_calls": [call("a", "tea")]}}
    body = {"choices": [{**choice, "finish_reason": "tool_calls"}]}
    row = {"custom_id": "eval/0", "response": {"status_code": 200, "body": body}}
    (row,) = score(tmp_path, a_task(tmp_path), row)
    assert (row["finish_reason"], len(row["turns"]), row["total"]) == ("stop", 1, 0.0)
    assert row["turns"][0]["calls"][0]["arguments"] == {"item": "tea"}


def test_scores_of_episodes_are_scored_again_from_parquet_too(tmp_path):
    task = a_task(tmp_path, {"accuracy": {}, "tool_calls": {"weight": 1.0, "process": 1.0}, "environment_reward": {}})
    (first,) = score(tmp_path, task, conversation(reward=0.5, tools=[TOOL]))
    assert first["total"] == 2.0
    files = [tmp_path / name for name in ("in.jsonl", "scores.parquet", "again.jsonl")]
    for source, out in pairwise(files):
        score_files(task, [source], OutputFile(out), console=Console(quiet=True))
    second = json.loads(files[-1].read_text())
    same = ("total", "turns", "tools", "steps", "text", "finish_reason", "prompt", "environment")
    assert {key: second.get(key) for key in same} == {key: first.get(key) for key in same}


TURN = {"role": "assistant", "content": "7"}


@pytest.mark.parametrize(
    "chat",
    [
        [{**TURN, "tool_calls": "price"}, TURN],
        [{**TURN, "tool_calls": [None]}],
        [{**TURN, "tool_calls": [{"function": {"name": 3}}]}],
        [{"role": "assistant", "content": {"text": 7}}, TURN],
        [TURN, {"role": "tool", "content": "7"}, TURN],
    ],
)
def test_what_is_not_a_conversation_is_a_problem_of_its_row(tmp_path, chat):
    row = RowReader(a_task(tmp_path)).read(Record(1, {"completion": chat, "total": "7"}))
    assert row.problem.startswith("message 1 of the chat: ")


@pytest.mark.parametrize("tools", [[{"name": "price", "parameters": {"properties": 3}}], [{"name": "price"}], "[", [3]])
def test_descriptions_of_tools_that_are_none_do_not_matter(tmp_path, tools):
    (row,) = score(tmp_path, a_task(tmp_path), conversation(tools=tools))
    assert row["total"] == 1.0
