"""Layouts: files as each tool writes them are told by their rows, and give the right verdicts."""

import json
import pickle
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

import pandas
import pytest
from rich.console import Console

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.files.reader import read_records
from grpo_env.formats import layouts as shapes
from grpo_env.formats.detect import LAYOUTS, OURS, recognise
from grpo_env.scoring.run import score_files
from grpo_env.taskfile.task import load_task

RIGHT = "<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>"
WRONG = "<think>\n9*2=19\n</think>\n<answer>\n19\n</answer>"
CHAT = [{"role": "system", "content": "Reason."}, {"role": "user", "content": "Nine times two?"}]


def said(text, **more):
    return [{"role": "assistant", "content": text, **more}]


@pytest.fixture(scope="module")
def task():
    return load_task("gsm8k")


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path):
    """The layout of a file and its rows in our shape."""
    rows = [record.row for record in read_records(path)]
    layout = recognise(rows)
    return layout, [layout.row(row) for row in rows]


def verdicts(task, layout, rows):
    """The accuracy of each completion of each row, by its gold."""
    golds = [layout.answer(row, lambda row: task.answer(row, "row")) for row in rows]
    return [
        [
            task.score(text, answer=gold).part("accuracy").value
            for text in row.get("completions", [row.get("completion")])
        ]
        for row, gold in zip(rows, golds, strict=True)
    ]


def test_our_rows_stay_as_they_are(tmp_path, task):
    rows = [
        {"id": "a", "answer": "… #### 18", "completion": RIGHT, "finish_reason": "stop"},
        {"id": "b", "answer": "… #### 18", "completions": [RIGHT, WRONG], "advantage": 1, "step": 2, "prompt": "?"},
    ]
    layout, shaped = read(jsonl(tmp_path / "file", rows))
    assert layout is OURS
    assert shaped == rows
    assert verdicts(task, layout, shaped) == [[1], [1, 0]]


@pytest.mark.parametrize("chat", [False, True])
def test_trl_completions(tmp_path, task, chat):
    # The lines of GRPOTrainer.log (TRL 1.16) that make the file; `extra` is what log_extra was given.
    logs = {
        "prompt": [CHAT, CHAT, CHAT[1:]] if chat else ["Nine times two?", "Nine times two?", "Two times nine?"],
        "completion": [said(RIGHT), said(WRONG), said(RIGHT)] if chat else [RIGHT, WRONG, RIGHT],
        "rewards": {"accuracy_reward": [1.0, 0.0, None], "format_reward": [0.5, 0.5, 0.5]},
        "extra": {"answer": ["18", "18", "18"]},
        "advantages": [0.7, -0.7, 0.0],
    }
    table = {
        "step": [10] * 3,
        "prompt": logs["prompt"],
        "completion": logs["completion"],
        **logs["rewards"],
        **logs["extra"],
        "advantage": logs["advantages"],
    }
    pandas.DataFrame(table).to_parquet(tmp_path / "completions_00010.parquet")
    layout, rows = read(tmp_path / "completions_00010.parquet")
    assert layout.name == "TRL completions"
    assert [row["completions"] for row in rows] == [[RIGHT], [WRONG], [RIGHT]]
    assert rows[0]["prompt"] == logs["prompt"][0]
    assert rows[0]["group"] == rows[1]["group"] != rows[2]["group"]
    assert verdicts(task, layout, rows) == [[1], [0], [1]]


def test_trl_completions_without_a_gold_are_joined_by_their_prompt(task):
    data = [{"question": "Nine times two?", "answer": "#### 18"}, {"question": "Two times nine?", "answer": "#### 18"}]
    examples = [task.example(row, f"eval/{index}", "row") for index, row in enumerate(data)]
    # What a file makes of the messages: more columns, all of them empty.
    prompts = [[{**message._asdict(), "tool_calls": None} for message in example.prompt] for example in examples]
    rows = [{"step": 1, "prompt": prompt, "completion": said(RIGHT), "advantage": 0.0} for prompt in prompts]
    gold = partial(task.answer, where="row")
    layout = recognise(rows, gold)
    assert layout.joins
    assert not recognise([{**row, "answer": "#### 18"} for row in rows], gold).joins
    index = layout.index(examples)
    joined = [layout.joined(layout.row(row), index) for row in rows]
    assert [row["id"] for row in joined] == ["eval/0", "eval/1"]
    assert verdicts(task, layout, joined) == [[1], [1]]
    for prompt in ([*prompts[0], *said("18")], "Nine times two?", None, [None], [1]):
        with pytest.raises(UsageError, match="no example of the task has the prompt of this row"):
            layout.joined({**rows[0], "prompt": prompt}, index)
    assert "log_extra" in layout.no_match(index)
    # The same question with another answer: neither can be the gold.
    unclear = layout.index([*examples, task.example({**data[0], "answer": "#### 19"}, "eval/2", "row")])
    assert [example.id for example in unclear.values()] == ["eval/1"]


def test_a_trl_group_is_one_prompt_at_one_step():
    layout = recognise([{"step": 1, "prompt": "p", "completion": "c", "advantage": 0.0}])
    groups = [layout.row({"step": step, "prompt": "p", "completion": "c", "advantage": 0})["group"] for step in (1, 2)]
    assert groups[0] != groups[1]


def test_a_verl_dump(tmp_path, task):
    # verl 0.9, RayPPOTrainer._write_generations; gts of any type, and columns of the reward function's own.
    rows = [
        {"input": "Nine times two?", "output": RIGHT, "gts": "18", "score": 1.0, "step": 5, "acc": True},
        {"input": "Nine times two?", "output": WRONG, "gts": "18", "score": 0.0, "step": 5, "acc": False},
        {"input": "Two times nine?", "output": RIGHT, "gts": 18, "score": float("nan"), "step": 5, "acc": False},
    ]
    layout, shaped = read(jsonl(tmp_path / "5.jsonl", rows))
    assert layout.name == "verl dump"
    assert [row["prompt"] for row in shaped] == [row["input"] for row in rows]
    assert shaped[0]["group"] == shaped[1]["group"] != shaped[2]["group"]
    assert [layout.answer(row, None) for row in shaped] == ["18", "18", 18]
    assert verdicts(task, layout, shaped[:2]) == [[1], [0]]


def test_verl_generation(tmp_path, task):
    # verl 0.9, main_generation_server.py: the dataset's Parquet (examples/data_preprocess/gsm8k.py) and `responses`.
    row = {
        "data_source": "openai/gsm8k",
        "prompt": CHAT,
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": "18"},
        "extra_info": {"split": "test", "index": 0, "answer": "9*2=18 #### 18", "question": "Nine times two?"},
    }
    data = pandas.DataFrame([row, row])
    data["responses"] = [[RIGHT, WRONG], [WRONG, WRONG]]
    data.to_parquet(tmp_path / "generation.parquet")
    layout, rows = read(tmp_path / "generation.parquet")
    assert layout.name == "verl generation"
    assert rows[0]["prompt"] == CHAT
    assert verdicts(task, layout, rows) == [[1, 0], [0, 0]]


def batch_row(id, *choices, **more):
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": list(choices), **more}
    return {
        "id": f"batch_req_{id}",
        "custom_id": id,
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def choice(text, finish="stop", **more):
    return {"index": 0, "message": said(text, **more)[0], "logprobs": None, "finish_reason": finish}


def test_openai_batch_and_vllm_run_batch(tmp_path, task):
    rows = [
        batch_row("eval/0", choice(RIGHT, refusal=None), usage={"completion_tokens": 21}),
        batch_row("eval/1", choice(RIGHT, reasoning="Hm."), choice(WRONG, "length"), usage={"completion_tokens": 42}),
        batch_row("eval/2", choice(None, "length", reasoning_content="Hm, hm")),
    ]
    layout, shaped = read(jsonl(tmp_path / "output.jsonl", rows))
    assert layout.name == "OpenAI batch output"
    assert layout.joins
    assert [row["id"] for row in shaped] == ["eval/0", "eval/1", "eval/2"]
    assert [row["completions"] for row in shaped] == [[RIGHT], [RIGHT, WRONG], [""]]
    assert [row["finish_reason"] for row in shaped] == [["stop"], ["stop", "length"], ["length"]]
    assert [row.get("num_tokens") for row in shaped] == [[21], None, None]  # usage is a sum over the choices
    assert [row.get("reasoning_content") for row in shaped] == [None, ["Hm.", None], ["Hm, hm"]]

    data = {"question": "Nine times two?", "answer": "9*2=18 #### 18", "completion": "the dataset's own column"}
    examples = {f"eval/{index}": task.example(data, f"eval/{index}", "row") for index in range(2)}
    index = layout.index(examples.values())
    joined = [layout.joined(row, index) for row in shaped[:2]]
    assert joined[0]["prompt"] == examples["eval/0"].prompt
    assert joined[0]["question"] == "Nine times two?"
    assert "completion" not in joined[0]
    assert verdicts(task, layout, joined) == [[1], [1, 0]]
    with pytest.raises(UsageError, match=r"id 'eval/2'; its ids are such as 'eval/0' and 'eval/1'"):
        layout.joined(shaped[2], index)
    assert "dataset.id='{{ column }}'" in layout.no_match(index)


@pytest.mark.parametrize(
    ("response", "error", "reason"),
    [
        (
            None,
            {"code": "batch_expired", "message": "This request could not be executed in time."},
            "could not be exec",
        ),
        (
            {"status_code": 429, "body": {"error": {"message": "Rate limit", "code": "x"}}},
            None,
            "status 429, Rate limit",
        ),
        (
            {"status_code": 404, "body": None},
            {"error": {"message": "no such model", "type": "t"}},
            "404, no such model",
        ),
        ({"status_code": 400, "body": None}, "Request must not be sent in stream mode", "400, Request must not"),
        ({"status_code": 500, "body": {}}, None, "status 500, no reason given"),
        (None, None, "no reason given"),
        ({"status_code": 200, "body": {"choices": []}}, None, "no choices"),
        ({"status_code": 200, "body": {"data": []}}, None, "no choices"),
        ({"status_code": 200, "body": {"choices": [{"index": 0}]}}, None, "not as OpenAI batch output"),
        ("text", None, "not as OpenAI batch output"),
    ],
)
def test_a_failed_request_says_why(response, error, reason):
    rows = [batch_row("eval/0", choice(RIGHT)), {"id": "b", "custom_id": "q", "response": response, "error": error}]
    layout = recognise(rows)
    assert layout.name == "OpenAI batch output"
    with pytest.raises(UsageError, match=reason):
        layout.row(rows[1])


def test_plain_responses_and_text_completions_are_batches_too():
    rows = [
        {
            "custom_id": "q",
            "response": {"choices": [choice([{"type": "text", "text": "1"}, {"type": "text", "text": "8"}])]},
        },
        {"custom_id": "q", "response": {"choices": [{"text": "18", "finish_reason": "stop", "token_ids": [1, 8]}]}},
    ]
    layout = recognise(rows)
    assert [layout.row(row)["completions"] for row in rows] == [["18"], ["18"]]
    assert layout.row(rows[1])["token_ids"] == [[1, 8]]


def lm_eval_row(id, resps, filter="strict-match", **doc):
    return {
        "doc_id": id,
        "doc": {"question": "Nine times two?", "answer": "9*2=18\n#### 18", **doc},
        "target": "9*2=18\n#### 18",
        "arguments": {"gen_args_0": {"arg_0": "Question: Nine times two?\nAnswer:", "arg_1": {"until": ["Question:"]}}},
        "resps": resps,
        "filtered_resps": ["18"],
        "filter": filter,
        "metrics": ["exact_match"],
        "doc_hash": "d",
        "prompt_hash": "p",
        "target_hash": "t",
        "exact_match": 1.0,
    }


def test_lm_eval_samples(tmp_path, task):
    # Each document once for each filter, in filters' order (lm_eval 0.4.13, evaluator.py).
    rows = [
        lm_eval_row(id, [[RIGHT, WRONG]], filter) for filter in ("strict-match", "flexible-extract") for id in (0, 1)
    ]
    layout, shaped = read(jsonl(tmp_path / "samples_gsm8k_2026-01-01T00-00-00.jsonl", rows))
    assert layout.name == "lm-eval samples"
    assert shaped[2:] == [None, None]
    assert [row["id"] for row in shaped[:2]] == ["0", "1"]
    assert shaped[0]["prompt"] == "Question: Nine times two?\nAnswer:"
    assert shaped[0]["question"] == "Nine times two?"
    assert verdicts(task, layout, shaped[:2]) == [[1, 0], [1, 0]]


def test_lm_eval_golds_are_the_template_on_the_document_else_the_target():
    row = lm_eval_row(0, [[RIGHT]], target="a column of the document")
    layout = recognise([row])
    shaped = layout.row(row)
    assert layout.answer(shaped, lambda row: row["answer"].split("####")[1].strip()) == "18"

    def missing(row):
        raise UsageError("no such column")

    assert layout.answer(shaped, missing) == "9*2=18\n#### 18"
    with pytest.raises(UsageError, match="no such column"):
        OURS.answer(shaped, missing)


def test_lm_eval_chats_and_log_likelihoods():
    row = lm_eval_row(0, [[RIGHT]])
    row["arguments"]["gen_args_0"]["arg_0"] = [json.dumps(CHAT)]  # JsonChatStr, a tuple of one
    layout = recognise([row])
    assert layout.row(row)["prompt"] == CHAT
    for resps in ([[["-1.5", "False"]], [["-0.5", "True"]]], [["a"], ["b"]], [], "text", [[]]):
        with pytest.raises(UsageError, match="log-likelihoods"):
            layout.row(lm_eval_row(0, resps))


def test_verifiers_results(tmp_path, task):
    # verifiers 0.1.14, save_utils.state_to_output.
    one = {
        "example_id": 3,
        "prompt": CHAT,
        "completion": said(RIGHT, reasoning_content="Hm."),
        "reward": 1.0,
        "error": None,
        "timing": {"total_ms": 1.0},
        "is_completed": True,
        "is_truncated": False,
        "stop_condition": "has_final_env_response",
        "metrics": {"correct": 1.0},
        "tool_defs": None,
        "token_usage": {"input_tokens": 30.0, "output_tokens": 21.0},
        "answer": "18",
        "correct": 1.0,
    }
    tools = [*said(None), {"role": "tool", "content": "19"}, *said(WRONG), {"role": "user", "content": "Sure?"}]
    two = {**one, "completion": tools, "is_truncated": True}
    layout, rows = read(jsonl(tmp_path / "results.jsonl", [one, two]))
    assert layout.name == "verifiers results"
    assert [row["completions"] for row in rows] == [[RIGHT], [WRONG]]
    assert [row["group"] for row in rows] == ["3", "3"]
    assert [row["finish_reason"] for row in rows] == [["stop"], ["length"]]
    assert [row.get("num_tokens") for row in rows] == [[21], None]
    assert rows[0]["reasoning_content"] == ["Hm."]
    assert verdicts(task, layout, rows) == [[1], [0]]
    failed = {**one, "error": {"error": "ModelError", "error_chain_repr": "ModelError()", "error_chain_str": "no host"}}
    with pytest.raises(UsageError, match="the rollout failed: no host"):
        layout.row(failed)


def test_verifiers_traces(task):
    # verifiers 0.4.0, trace_store.write_episode (null fields left out).
    data = {"idx": 7, "prompt": "Nine times two?", "system_prompt": "Reason.", "answer": "18"}
    trace = {
        "version": 1,
        "id": "t",
        "task": {"type": "GSM8K", "data": data, "key": "k", "hash": "h"},
        "nodes": [
            {"message": CHAT[0], "sampled": False},
            {"parent": 0, "message": CHAT[1], "sampled": False},
            {"parent": 1, "message": said(RIGHT, reasoning_content="Hm.")[0], "sampled": True},
        ],
        "calls": [{"node": 2, "finish_reason": "length", "usage": {"prompt_tokens": 30, "completion_tokens": 21}}],
        "ok": True,
        "errors": [],
    }
    row = {"id": "e", "env": {"id": "gsm8k"}, "task": trace["task"], "ok": True, "traces": [trace]}
    layout = recognise([row])
    assert layout.name == "verifiers traces"
    shaped = layout.row(row)
    assert (shaped["id"], shaped["group"], shaped["prompt"]) == ("7", "h", CHAT)
    assert (shaped["finish_reason"], shaped["num_tokens"], shaped["reasoning_content"]) == (["length"], [21], ["Hm."])
    assert verdicts(task, layout, [shaped]) == [[1]]
    with pytest.raises(UsageError, match="2 traces"):
        layout.row({**row, "traces": [trace, trace]})
    with pytest.raises(UsageError, match="the rollout failed: Boom"):
        layout.row({**row, "traces": [{**trace, "nodes": [], "ok": False, "errors": [{"message": "Boom"}]}]})


def test_our_scores_can_be_scored_again(tmp_path, task):
    parts = {"strict_format": {"gold": None}, "accuracy": {"gold": "18", "value": 0}}
    row = {
        "id": "a",
        "line": 1,
        "completion": 1,
        "group": "g",
        "prompt": "?",
        "text": RIGHT,
        "total": 0,
        "parts": parts,
    }
    for metric in ({"metric": "accuracy"}, {}):
        layout, rows = read(jsonl(tmp_path / "scores", [{**row, **metric}]))
        assert layout.name == "grpo_env scores"
        assert rows[0]["group"] == "g"
        assert verdicts(task, layout, rows) == [[1]]
    with pytest.raises(UsageError, match="without texts"):
        layout.row({**row, "text": None})


def test_completions_keep_their_numbers_when_scores_are_scored_again(tmp_path, task):
    """Or nothing could be compared with the first scores, where a completion is known by id and number."""
    several = {"id": "a", "answer": "18", "completions": [RIGHT, "no", RIGHT]}
    rows = [several, {"id": "b", "answer": "1", "completion": RIGHT}]
    found = [jsonl(tmp_path / "completions", rows), tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for source, out in pairwise(found):
        score_files(task, [Path(source)], out, talk=Console(quiet=True))
    first, second = (
        [(row["id"], row["completion"], row["total"]) for row in map(json.loads, out.read_text().splitlines())]
        for out in found[1:]
    )
    assert [number for _, number, _ in first] == [0, 1, 2, 0]
    assert second == first


def test_samples_of_a_training_run_are_joined(task):
    row = {"step": 3, "task": "gsm8k", "id": "train/0", "completion": RIGHT, "finish": "length", "score": {"value": 1}}
    layout = recognise([row])
    assert layout.name == "grpo_env training samples"
    shaped = layout.joined(layout.row(row), {"train/0": Example("train/0", info={"answer": "#### 18"})})
    assert (shaped["finish_reason"], shaped["group"]) == (["length"], "3/train/0")
    assert verdicts(task, layout, [shaped]) == [[1]]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"prompt": "p", "completion": "c"}, "grpo_env rows"),
        ({"step": 1, "prompt": "p", "completion": "c", "reward": 1}, "grpo_env rows"),
        ({"input": "i", "output": "o", "score": 1, "step": 2, "completion": "c"}, "grpo_env rows"),
        ({"input": "i", "output": "o"}, "grpo_env rows"),
        ({"custom_id": "1", "response": {}, "completions": ["c"]}, "grpo_env rows"),
        ({"custom_id": "1", "completion": "c", "answer": "a"}, "grpo_env rows"),
        ({"id": "1", "question": "q", "response": "r"}, "grpo_env rows"),
        ({"doc_id": 1, "doc": {}, "target": "t", "resps": []}, "lm-eval samples"),
        (
            {"step": 1, "prompt": "p", "completion": "c", "advantage": 1, "reward": 1, "example_id": 1},
            "verifiers results",
        ),
    ],
)
def test_ambiguous_rows(row, name):
    assert recognise([row]).name == name


def test_all_of_the_first_rows_decide():
    trl = {"step": 1, "prompt": "p", "completion": "c", "advantage": 0}
    assert recognise([trl, {"prompt": "p", "completion": "c"}]) is OURS
    assert recognise([]) is OURS
    layout = recognise([trl])
    with pytest.raises(UsageError, match="no column 'advantage', which every row of a file of TRL completions has"):
        layout.row({"step": 1, "prompt": "p", "completion": "c"})


@pytest.mark.parametrize(
    "value", [None, 1, 0.5, True, [], [1], [[]], {}, {"role": "user"}, [{"role": "user"}], "\x00\ud800"]
)
def test_no_value_in_a_row_is_an_exception_of_another_kind(value):
    nested = []
    for _ in range(2000):
        nested = [nested]
    for layout in LAYOUTS:
        for broken in (value, nested):
            with suppress(UsageError):
                shaped = layout.row(dict.fromkeys(layout.columns, broken))
                assert all(isinstance(text, str) for text in shaped["completions"])


def test_layouts_travel_to_other_processes():
    for layout in (*LAYOUTS, OURS):
        assert pickle.loads(pickle.dumps(layout)) == layout


def test_a_completion_read_is_one_the_task_can_judge(task):
    row = recognise([{"input": "i", "output": RIGHT, "gts": "18", "score": 1, "step": 1}]).row(
        {"input": "i", "output": RIGHT, "gts": "18", "score": 1, "step": 1}
    )
    assert task.score(Completion(row["completions"][0]), answer=row["gts"]).part("accuracy").value == 1


def test_a_damaged_packed_row_is_a_problem_of_its_own():
    with pytest.raises(UsageError, match="grpo_env: no example of grpo_env"):
        shapes.trl({"step": 1, "prompt": "Q", "completion": "A", "grpo_env": '{"grpo_env": "a'})
