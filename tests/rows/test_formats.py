"""File formats: files as each tool writes them are recognized by their rows, and score as they should."""

import json
import pickle
import zipfile
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pandas
import pytest
from rich.console import Console

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.results.export import export_file
from grpo_env.results.export.inspect_records import Inspect
from grpo_env.results.rows import read_scores
from grpo_env.rows.formats.chat import read_reply
from grpo_env.rows.formats.detect import FORMATS, detect_format
from grpo_env.rows.formats.file_format import NATIVE
from grpo_env.rows.formats.packed_example import pack
from grpo_env.rows.formats.trl import TRL_COMPLETIONS
from grpo_env.rows.reader import Record, read_records
from grpo_env.scoring import Fields, OutputFile, score_files
from grpo_env.scoring.recorded_turns import read_tools, read_turns
from grpo_env.scoring.row_reader import RowReader
from grpo_env.taskfile.task import load_task

RIGHT = "<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>"
WRONG = "<think>\n9*2=19\n</think>\n<answer>\n19\n</answer>"
CHAT = [{"role": "system", "content": "Reason."}, {"role": "user", "content": "Nine times two?"}]


def assistant(text, **more):
    return [{"role": "assistant", "content": text, **more}]


@pytest.fixture(scope="module")
def task():
    return load_task("gsm8k")


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path):
    """The format of a file, and its rows converted."""
    rows = [record.row for record in read_records(path)]
    file_format = detect_format(rows)
    return file_format, [file_format.convert(row) for row in rows]


def replies(row):
    return [read_reply(completion) for completion in row.get("completions", [row.get("completion")])]


def texts(row):
    return [reply.text for reply in replies(row)]


def accuracies(task, file_format, rows):
    """The accuracy of each completion of each row, by its gold answer."""
    golds = [file_format.gold_answer(row, lambda row: task.answer(row, "row")) for row in rows]
    return [
        [task.score(text, answer=gold).part("accuracy").value for text in texts(row)]
        for row, gold in zip(rows, golds, strict=True)
    ]


def test_our_own_rows_are_not_converted(tmp_path, task):
    rows = [
        {"id": "a", "answer": "… #### 18", "completion": RIGHT, "finish_reason": "stop"},
        {"id": "b", "answer": "… #### 18", "completions": [RIGHT, WRONG], "advantage": 1, "step": 2, "prompt": "?"},
    ]
    file_format, converted = read(jsonl(tmp_path / "file", rows))
    assert file_format is NATIVE
    assert converted == rows
    assert accuracies(task, file_format, converted) == [[1], [1, 0]]


@pytest.mark.parametrize("chat", [False, True])
def test_trl_completions(tmp_path, task, chat):
    # The lines of GRPOTrainer.log (TRL 1.16) that make the file; `extra` is what log_extra was given.
    logs = {
        "prompt": [CHAT, CHAT, CHAT[1:]] if chat else ["Nine times two?", "Nine times two?", "Two times nine?"],
        "completion": [assistant(RIGHT), assistant(WRONG), assistant(RIGHT)] if chat else [RIGHT, WRONG, RIGHT],
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
    file_format, rows = read(tmp_path / "completions_00010.parquet")
    assert file_format.name == "TRL completions"
    assert [texts(row) for row in rows] == [[RIGHT], [WRONG], [RIGHT]]
    assert rows[0]["prompt"] == logs["prompt"][0]
    assert rows[0]["group"] == rows[1]["group"] != rows[2]["group"]
    assert accuracies(task, file_format, rows) == [[1], [0], [1]]


def test_trl_completions_without_gold_answers_are_joined_by_prompt(task):
    data = [{"question": "Nine times two?", "answer": "#### 18"}, {"question": "Two times nine?", "answer": "#### 18"}]
    examples = [task.example(row, f"eval/{index}", "row") for index, row in enumerate(data)]
    # What a file makes of the messages: more columns, all of them empty.
    prompts = [[{**message._asdict(), "tool_calls": None} for message in example.prompt] for example in examples]
    rows = [{"step": 1, "prompt": prompt, "completion": assistant(RIGHT), "advantage": 0.0} for prompt in prompts]
    gold = partial(task.answer, where="row")
    file_format = detect_format(rows, gold)
    assert file_format.joins
    assert not detect_format([{**row, "answer": "#### 18"} for row in rows], gold).joins
    index = file_format.index(examples)
    joined = [file_format.join(file_format.convert(row), index) for row in rows]
    assert [row["id"] for row in joined] == ["eval/0", "eval/1"]
    assert accuracies(task, file_format, joined) == [[1], [1]]
    for prompt in ([*prompts[0], *assistant("18")], "Nine times", None, [None], [1]):
        with pytest.raises(UsageError, match=r"no example of the split has the prompt|this row has no column 'prompt'"):
            file_format.join({**rows[0], "prompt": prompt}, index)
    # The same question with another answer: neither can be the gold.
    unclear = file_format.index([*examples, task.example({**data[0], "answer": "#### 19"}, "eval/2", "row")])
    assert {example.id for example in unclear.values()} == {"eval/1"}


def test_a_trl_group_is_one_prompt_at_one_step():
    file_format = detect_format([{"step": 1, "prompt": "p", "completion": "c", "advantage": 0.0}])
    groups = [
        file_format.convert({"step": step, "prompt": "p", "completion": "c", "advantage": 0})["group"]
        for step in (1, 2)
    ]
    assert groups[0] != groups[1]


def test_a_verl_dump(tmp_path, task):
    # verl 0.9, RayPPOTrainer._write_generations; gts of any type, and columns of the reward function's own.
    rows = [
        {"input": "Nine times two?", "output": RIGHT, "gts": "18", "score": 1.0, "step": 5, "acc": True},
        {"input": "Nine times two?", "output": WRONG, "gts": "18", "score": 0.0, "step": 5, "acc": False},
        {"input": "Two times nine?", "output": RIGHT, "gts": 18, "score": float("nan"), "step": 5, "acc": False},
    ]
    file_format, converted = read(jsonl(tmp_path / "5.jsonl", rows))
    assert file_format.name == "verl dump"
    assert [row["prompt"] for row in converted] == [row["input"] for row in rows]
    assert converted[0]["group"] == converted[1]["group"] != converted[2]["group"]
    assert [file_format.gold_answer(row, None) for row in converted] == ["18", "18", 18]
    assert accuracies(task, file_format, converted[:2]) == [[1], [0]]


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
    file_format, rows = read(tmp_path / "generation.parquet")
    assert file_format.name == "verl generation"
    assert rows[0]["prompt"] == CHAT
    assert accuracies(task, file_format, rows) == [[1, 0], [0, 0]]


def batch_row(id, *choices, **more):
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": list(choices), **more}
    return {
        "id": f"batch_req_{id}",
        "custom_id": id,
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def choice(text, finish="stop", **more):
    return {"index": 0, "message": assistant(text, **more)[0], "logprobs": None, "finish_reason": finish}


def test_openai_batch_output(tmp_path, task):
    rows = [
        batch_row("eval/0", choice(RIGHT, refusal=None), usage={"completion_tokens": 21}),
        batch_row("eval/1", choice(RIGHT, reasoning="Hm."), choice(WRONG, "length"), usage={"completion_tokens": 42}),
        batch_row("eval/2", choice(None, "length", reasoning_content="Hm, hm")),
    ]
    file_format, converted = read(jsonl(tmp_path / "output.jsonl", rows))
    assert file_format.name == "OpenAI batch output"
    assert file_format.joins
    assert [row["id"] for row in converted] == ["eval/0", "eval/1", "eval/2"]
    assert [texts(row) for row in converted] == [[RIGHT], [RIGHT, WRONG], [""]]
    assert [row["finish_reason"] for row in converted] == [["stop"], ["stop", "length"], ["length"]]
    assert [row.get("num_tokens") for row in converted] == [[21], None, None]  # usage is a sum over the choices
    assert [[reply.reasoning for reply in replies(row)] for row in converted] == [[None], ["Hm.", None], ["Hm, hm"]]

    data = {"question": "Nine times two?", "answer": "9*2=18 #### 18", "completion": "the dataset's own column"}
    examples = {f"eval/{index}": task.example(data, f"eval/{index}", "row") for index in range(2)}
    index = file_format.index(examples.values())
    joined = [file_format.join(row, index) for row in converted[:2]]
    assert joined[0]["prompt"] == examples["eval/0"].prompt
    assert joined[0]["question"] == "Nine times two?"
    assert "completion" not in joined[0]
    assert accuracies(task, file_format, joined) == [[1], [1, 0]]
    with pytest.raises(UsageError, match=r"the id 'eval/2' .*; its ids look like 'eval/0' and 'eval/1'"):
        file_format.join(converted[2], index)


# The same chat as the templates of these families write it (their tokenizer_config.json).
TEMPLATES = [
    "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n",
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{system}<|eot_id|><|start_header_id|>user"
    "<|end_header_id|>\n\n{user}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "<bos><start_of_turn>user\n{system}\n\n{user}<end_of_turn>\n<start_of_turn>model\n",
    "<s>[INST] {system}\n\n{user}[/INST]",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>{system}<\uff5cUser\uff5c>{user}<\uff5cAssistant\uff5c><think>\n",
    "{user}",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_saved_of_vllms_generate_is_joined_by_its_prompts(template, task):
    data = [{"question": f"{n} times two?\n\nAnswer, please.", "answer": f"#### {2 * n}"} for n in (9, 10)]
    examples = [task.example(row, f"eval/{index}", "row") for index, row in enumerate(data)]
    rows = []
    for example in reversed(examples):
        prompt = template.format(system=example.prompt[0].content, user=example.prompt[1].content)
        # vars(RequestOutput) with its CompletionOutput as dictionaries, without logprobs (vLLM 0.33, outputs.py)
        output = {"index": 0, "text": RIGHT, "token_ids": [5, 6], "cumulative_logprob": -1.0, "finish_reason": "stop"}
        outputs = [output, {**output, "index": 1, "text": WRONG, "finish_reason": "length"}]
        rows.append(
            {"request_id": "7", "prompt": prompt, "prompt_token_ids": [1], "outputs": outputs, "finished": True}
        )
    file_format = detect_format(rows, partial(task.answer, where="row"))
    assert file_format.name == "vLLM LLM.generate output"
    index = file_format.index(examples)
    joined = [file_format.join(file_format.convert(row), index) for row in rows]
    assert [row["id"] for row in joined] == ["eval/1", "eval/0"]
    assert accuracies(task, file_format, joined) == [[0, 0], [1, 0]]
    assert joined[0]["finish_reason"] == ["stop", "length"]
    assert joined[0]["num_tokens"] == [2, 2]
    own_gold = [{**row, "answer": "#### 18"} for row in rows]
    assert detect_format(own_gold, partial(task.answer, where="row")).joins is None


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
        ({"status_code": 200, "body": {"choices": [{"index": 0}]}}, None, "not a row of OpenAI batch output"),
        ("text", None, "not a row of OpenAI batch output"),
    ],
)
def test_a_failed_request_is_reported_with_its_reason(response, error, reason):
    rows = [batch_row("eval/0", choice(RIGHT)), {"id": "b", "custom_id": "q", "response": response, "error": error}]
    file_format = detect_format(rows)
    assert file_format.name == "OpenAI batch output"
    with pytest.raises(UsageError, match=reason):
        file_format.convert(rows[1])


def test_responses_without_envelope_and_text_completions_are_read_as_batches():
    rows = [
        {
            "custom_id": "q",
            "response": {"choices": [choice([{"type": "text", "text": "1"}, {"type": "text", "text": "8"}])]},
        },
        {"custom_id": "q", "response": {"choices": [{"text": "18", "finish_reason": "stop", "token_ids": [1, 8]}]}},
    ]
    file_format = detect_format(rows)
    assert [texts(file_format.convert(row)) for row in rows] == [["18"], ["18"]]
    assert file_format.convert(rows[1])["token_ids"] == [[1, 8]]


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
    file_format, converted = read(jsonl(tmp_path / "samples_gsm8k_2026-01-01T00-00-00.jsonl", rows))
    assert file_format.name == "lm-eval samples"
    assert converted[2:] == [None, None]
    assert [row["id"] for row in converted[:2]] == ["0", "1"]
    assert converted[0]["prompt"] == "Question: Nine times two?\nAnswer:"
    assert converted[0]["question"] == "Nine times two?"
    assert accuracies(task, file_format, converted[:2]) == [[1, 0], [1, 0]]


def test_lm_eval_gold_answers_come_from_the_template_or_else_the_target():
    row = lm_eval_row(0, [[RIGHT]], target="a column of the document")
    file_format = detect_format([row])
    converted = file_format.convert(row)
    assert file_format.gold_answer(converted, lambda row: row["answer"].split("####")[1].strip()) == "18"

    def missing(row):
        raise UsageError("no such column")

    assert file_format.gold_answer(converted, missing) == "9*2=18\n#### 18"
    with pytest.raises(UsageError, match="no such column"):
        NATIVE.gold_answer(converted, missing)


def test_lm_eval_chats_and_log_likelihoods():
    row = lm_eval_row(0, [[RIGHT]])
    row["arguments"]["gen_args_0"]["arg_0"] = [json.dumps(CHAT)]  # JsonChatStr, a tuple of one
    file_format = detect_format([row])
    assert file_format.convert(row)["prompt"] == CHAT
    for resps in ([[["-1.5", "False"]], [["-0.5", "True"]]], [["a"], ["b"]], [], [[]], 5):
        with pytest.raises(UsageError, match="log-likelihoods"):
            file_format.convert(lm_eval_row(0, resps))


@pytest.mark.parametrize(
    ("responses", "texts_of_row"),
    [
        ({"resps": [RIGHT]}, [RIGHT]),
        ({"resps": [RIGHT, WRONG], "filtered_resps": "18"}, [RIGHT, WRONG]),
        ({"filtered_resps": RIGHT}, [RIGHT]),
    ],
)
def test_samples_of_lmms_eval(task, responses, texts_of_row):
    # lmms-eval, EvaluationTracker.save_results_samples: no doc, and lists of one item as the item.
    row = {"doc_id": 0, "target": "18", "input": "Nine times two?", "doc_hash": "d", "exact_match": 1.0, **responses}
    file_format = detect_format([row])
    converted = file_format.convert(row)
    assert texts(converted) == texts_of_row
    assert converted["prompt"] == "Nine times two?"
    assert accuracies(task, file_format, [converted]) == [[1, 0][: len(texts_of_row)]]


@pytest.mark.parametrize(
    ("gold", "prompt", "messages"),
    [
        ({"gold": "18"}, [{"role": "HUMAN", "prompt": "Nine times two?"}, {"role": "BOT", "prompt": "Hm"}], "ua"),
        ({"refr": "18"}, [{"role": "SYSTEM", "prompt": "x"}, {"role": "user", "content": "Nine times two?"}], "su"),
        ({"gold": "18"}, "<|im_start|>user\nNine times two?<|im_end|>", None),
    ],
)
def test_opencompass_predictions(tmp_path, task, gold, prompt, messages):
    # GenInferencerOutputHandler.write_to_json; LawBench has refr; ChatML as in trash/corev2 of the repository.
    results = {
        "0": {"origin_prompt": prompt, "prediction": RIGHT, **gold},
        "1": {"origin_prompt": prompt, "prediction": [RIGHT, WRONG], **gold},  # num_return_sequences
    }
    path = tmp_path / "gsm8k.json"
    path.write_text(json.dumps(results, indent=4, ensure_ascii=False))
    lines = [{"idx": int(index), **row} for index, row in results.items()]
    for file in (path, jsonl(tmp_path / "gsm8k.jsonl", lines)):
        file_format, rows = read(file)
        assert file_format.name == "OpenCompass predictions"
        assert [str(row["id"]) for row in rows] == ["0", "1"]
        assert accuracies(task, file_format, rows) == [[1], [1, 0]]
        if messages is None:
            assert rows[0]["prompt"] == prompt
        else:
            assert "".join(message["role"][0] for message in rows[0]["prompt"]) == messages
            assert "Nine times two?" in [message["content"] for message in rows[0]["prompt"]]
    dialogue = {**lines[0], "prediction": [{"round": 1, "user": "?", "assistant": "!"}]}
    assert "no content" in RowReader(task, Fields(), file_format).read(Record(1, dialogue)).problem


def test_outputs_of_a_math_harness(tmp_path, task):
    # Qwen2.5-Math, evaluation/data/eval_rm_maj_example/math_cot_100.jsonl.
    row = {
        "idx": 0,
        "question": "Nine times two?",
        "gt_cot": "9*2=18",
        "gt": "18",
        "solution": "9*2=18",
        "answer": "18",
        "code": [RIGHT, WRONG],
        "pred": ["18", "19"],
        "report": [None, None],
        "score": [True, False],
    }
    file_format, rows = read(jsonl(tmp_path / "test_qwen_-1_seed0.jsonl", [row]))
    assert file_format is not NATIVE
    assert accuracies(task, file_format, rows) == [[1, 0]]
    labelled = RowReader(task, Fields(label=("score",)), file_format).read(Record(1, row))
    assert labelled.labels == (True, False)
    assert detect_format([{**row, "code": "print(18)"}]) is NATIVE  # the column of another file


def inspect_sample(id, epoch, text, **more):
    message = {"id": "m", "content": text, "source": "generate", "role": "assistant", "model": "m"}
    asked = [
        {"content": "Reason.", "role": "system"},
        {"content": "Nine times two?", "source": "input", "role": "user"},
    ]
    return {
        "id": id,
        "epoch": epoch,
        "input": "Nine times two?",
        "target": "18",
        "messages": [*asked, message],
        "output": {
            "model": "m",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": {"input_tokens": 9, "output_tokens": 21, "total_tokens": 30},
        },
        "scores": {"match": {"value": "I", "answer": "No"}},
        "metadata": {},
        "store": {},
        "events": [],
        **more,
    }


def inspect_log(path, samples):
    """A log as Inspect writes it: an ``.eval`` file has a file for each sample, in the order in which they ended."""
    header = {"version": 2, "status": "success", "eval": {"task": "t"}, "plan": {"steps": []}}
    if path.suffix == ".eval":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("_journal/start.json", json.dumps(header))
            for sample in reversed(samples):
                archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
            archive.writestr("summaries.json", json.dumps([{"id": 1, "epoch": 1}]))
            archive.writestr("header.json", json.dumps(header))
    else:
        samples = sorted(samples, key=lambda sample: (sample["epoch"], str(sample["id"])))  # sort_samples
        reductions = [{"scorer": "match", "samples": [{"value": 0, "sample_id": 1}]}]
        path.write_text(json.dumps({**header, "samples": samples, "reductions": reductions}, indent=2))
    return path


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_scores_of_an_inspect_log_are_exported_to_its_samples_and_epochs(tmp_path, task, suffix):
    """``precomputed_scores`` finds a score by the id, as text, and the epoch."""
    samples = [
        inspect_sample(id, epoch, RIGHT if right else WRONG)
        for id, epoch, right in ((1, 1, True), (1, 2, False), ("b", 1, True), ("b", 3, True), (10, 1, False))
    ]
    failed = inspect_sample("b", 2, RIGHT, error={"message": "overloaded", "traceback": "…"})
    log = inspect_log(tmp_path / f"log{suffix}", [*samples, failed])
    summary = score_files(task, [log], OutputFile(tmp_path / "scores.jsonl"), console=Console(quiet=True))
    assert (summary.bad_rows, summary.returning_groups) == (1, 0)
    assert "the sample failed: overloaded" in (tmp_path / "scores.rejects.jsonl").read_text()
    export_file(read_scores(tmp_path / "scores.jsonl"), Inspect(), tmp_path / "records.jsonl")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert {(record["id"], record["epoch"]): record["value"] for record in records} == {
        ("1", 1): 1,
        ("1", 2): 0,
        ("b", 1): 1,
        ("b", 3): 1,
        ("10", 1): 0,
    }
    assert len(records) == 5


def test_what_is_read_of_an_inspect_sample(task):
    parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "18"}]
    sample = inspect_sample(1, 1, parts)
    sample["output"]["choices"][0]["stop_reason"] = "max_tokens"
    file_format = detect_format([sample])
    assert file_format.name == "Inspect log"
    row = file_format.convert(sample)
    assert replies(row) == [("18", "Hm.")]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert (row["finish_reason"], row["num_tokens"]) == (["length"], [21])
    assert file_format.gold_answer(row, lambda row: "no") == "18"
    # Answers that the prompt shows are no turns.
    shown = {"role": "assistant", "source": "input", "content": "17"}
    sample["messages"].insert(1, shown)
    assert len(file_format.convert(sample)["prompt"]) == 3
    # Of an agent that keeps its messages to itself.
    assert texts(file_format.convert({**sample, "messages": sample["messages"][:2]})) == ["18"]
    with pytest.raises(UsageError, match="no output of the model"):
        file_format.convert({**sample, "messages": [], "output": {"choices": []}})
    # With the example that integrations.inspect_ai packed.
    example = Example("eval/3", "?", "18", {"question": "Nine times two?", "input": "a column"})
    row = file_format.convert({**sample, "metadata": {"grpo_env": pack(example)}})
    assert (row["question"], row["input"], row["id"]) == ("Nine times two?", "a column", "1")


def test_calls_in_an_inspect_sample_are_turns(task):
    call = {"id": "c1", "function": "price", "arguments": {"item": "pen"}, "type": "function", "view": {"title": "x"}}
    episode = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "function": "price", "content": "18"},
        {"role": "assistant", "content": RIGHT, "source": "generate"},
    ]
    sample = inspect_sample(1, 1, RIGHT, messages=[{"role": "user", "content": "?"}, *episode])
    row = detect_format([sample]).convert(sample)
    (completion,) = RowReader(task, Fields(), detect_format([sample])).read(Record(1, sample)).completions
    first, last = completion.turns
    assert (first.calls[0].name, dict(first.calls[0].arguments), first.results[0].text) == (
        "price",
        {"item": "pen"},
        "18",
    )
    assert last.text == RIGHT
    assert "num_tokens" not in row


def test_verifiers_results(tmp_path, task):
    # verifiers 0.1.14, save_utils.state_to_output.
    row = {
        "example_id": 3,
        "prompt": CHAT,
        "completion": assistant(RIGHT, reasoning_content="Hm."),
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
    tools = [
        *assistant(None),
        {"role": "tool", "content": "19"},
        *assistant(WRONG),
        {"role": "user", "content": "Sure?"},
    ]
    truncated = {**row, "completion": tools, "is_truncated": True}
    file_format, rows = read(jsonl(tmp_path / "results.jsonl", [row, truncated]))
    assert file_format.name == "verifiers results"
    assert [texts(row) for row in rows] == [[RIGHT], [WRONG]]
    assert [row["group"] for row in rows] == ["3", "3"]
    assert [row["finish_reason"] for row in rows] == [["stop"], ["length"]]
    assert [row.get("num_tokens") for row in rows] == [[21], None]
    assert replies(rows[0])[0].reasoning == "Hm."
    assert accuracies(task, file_format, rows) == [[1], [0]]
    failed = {**row, "error": {"error": "ModelError", "error_chain_repr": "ModelError()", "error_chain_str": "no host"}}
    with pytest.raises(UsageError, match="the rollout failed: no host"):
        file_format.convert(failed)


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
            {"parent": 1, "message": assistant(RIGHT, reasoning_content="Hm.")[0], "sampled": True},
        ],
        "calls": [{"node": 2, "finish_reason": "length", "usage": {"prompt_tokens": 30, "completion_tokens": 21}}],
        "ok": True,
        "errors": [],
    }
    row = {"id": "e", "env": {"id": "gsm8k"}, "task": trace["task"], "ok": True, "traces": [trace]}
    file_format = detect_format([row])
    assert file_format.name == "verifiers traces"
    converted = file_format.convert(row)
    assert (converted["id"], converted["group"], converted["prompt"]) == ("7", "h", CHAT)
    assert (converted["finish_reason"], converted["num_tokens"]) == (["length"], [21])
    assert replies(converted) == [(RIGHT, "Hm.")]
    assert accuracies(task, file_format, [converted]) == [[1]]
    with pytest.raises(UsageError, match="2 traces"):
        file_format.convert({**row, "traces": [trace, trace]})
    with pytest.raises(UsageError, match="the rollout failed: Boom"):
        file_format.convert({**row, "traces": [{**trace, "nodes": [], "ok": False, "errors": [{"message": "Boom"}]}]})


def test_nemo_gym_rollouts(tmp_path, task):
    """As the example_rollouts.jsonl of NeMo Gym's environments are, with null fields left out."""
    said = [{"type": "output_text", "text": RIGHT, "annotations": []}]
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    message = {"type": "message", "role": "assistant", "status": "completed", "content": said}
    asked = [{"type": "message", **CHAT[0]}, {"type": "message", **CHAT[1]}]
    response = {"object": "response", "output": [reasoning, message], "usage": {"output_tokens": 21}}
    row = {
        "responses_create_params": {"input": asked, "tools": []},
        "response": {**response, "status": "completed"},
        "expected_answer": "18",
        "reward": 1.0,
        "_ng_task_index": 3,
        "_ng_rollout_index": 0,
    }
    cut = {**response, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    file_format, rows = read(jsonl(tmp_path / "rollouts.jsonl", [row, {**row, "response": cut}]))
    assert file_format.name == "NeMo Gym rollouts"
    assert [(row["prompt"], row["group"], row["num_tokens"]) for row in rows] == [(CHAT, "3", [21])] * 2
    assert [row["finish_reason"] for row in rows] == [["stop"], ["length"]]
    assert replies(rows[0]) == [(RIGHT, "Hm.")]
    assert accuracies(task, file_format, rows[:1]) == [[1]]
    plain = {**row, "responses_create_params": {"input": "Nine times two?", "instructions": "Reason."}}
    assert file_format.convert(plain)["prompt"] == CHAT
    for broken, problem in (
        ({"error": {"message": "Boom"}, "output": []}, "the rollout failed: Boom"),
        ({"output": [{"type": "function_call_output", "call_id": "1", "output": "x"}]}, "no output of the model"),
        ({"output": [{"type": "web_search_call", "id": "1"}]}, "an item of type 'web_search_call' is neither"),
    ):
        with pytest.raises(UsageError, match=problem):
            file_format.convert({**row, "response": broken})


def test_calls_in_nemo_gym_rollouts_are_turns(task):
    def call(number):
        arguments = json.dumps({"id": number})
        return {"type": "function_call", "call_id": f"c{number}", "name": "look", "arguments": arguments}

    def result(number):
        return {"type": "function_call_output", "call_id": f"c{number}", "output": f"room {number}"}

    def says(text, role="assistant"):
        return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}

    output = [says("Two doors."), call(1), call(2), result(1), result(2), says("Which?"), says("3", "user"), call(3)]
    tool = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {"id": {}}}}
    row = {
        "responses_create_params": {"input": "Look.", "tools": [tool]},
        "response": {"output": [*output, result(3), says("Done."), says("")], "usage": {"output_tokens": 9}},
    }
    converted = detect_format([row]).convert(row)
    assert "num_tokens" not in converted  # of all turns together
    (chat,) = converted["completions"]
    roles = [message["role"] for message in chat]
    assert roles == ["assistant", "tool", "tool", "assistant", "user", "assistant", "tool", "assistant"]
    turns = read_turns(chat, "think", "stop", read_tools(converted["tools"]))
    assert [[(c.name, dict(c.arguments)) for c in turn.calls] for turn in turns] == [
        [("look", {"id": 1}), ("look", {"id": 2})],
        [],
        [("look", {"id": 3})],
        [],
    ]
    assert [[r.text for r in turn.results] for turn in turns] == [["room 1", "room 2"], [], ["room 3"], []]
    assert not any(r.problem for turn in turns for r in turn.results)
    assert (turns[1].reply, turns[-1].text) == ("3", "Done.")


def test_scores_can_be_scored_again(tmp_path, task):
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
        file_format, rows = read(jsonl(tmp_path / "scores", [{**row, **metric}]))
        assert file_format.name == "grpo_env scores"
        assert rows[0]["group"] == "g"
        assert accuracies(task, file_format, rows) == [[1]]
    with pytest.raises(UsageError, match="without texts"):
        file_format.convert({**row, "text": None})


def test_completions_keep_their_numbers_when_scores_are_scored_again(tmp_path, task):
    """Comparisons match completions by id and number."""
    several = {"id": "a", "answer": "18", "completions": [RIGHT, "no", RIGHT]}
    rows = [several, {"id": "b", "answer": "1", "completion": RIGHT}]
    files = [jsonl(tmp_path / "completions", rows), tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for source, out in pairwise(files):
        score_files(task, [Path(source)], OutputFile(out), console=Console(quiet=True))
    first, second = (
        [(row["id"], row["completion"], row["total"]) for row in map(json.loads, out.read_text().splitlines())]
        for out in files[1:]
    )
    assert [number for _, number, _ in first] == [0, 1, 2, 0]
    assert second == first


SCORED = {"id": "a", "completion": 0, "total": 1.0, "parts": {"accuracy": {"gold": "18"}}, "text": RIGHT}
BATCH = {"custom_id": "eval/0", "response": {"choices": [{"text": RIGHT}]}}


@pytest.mark.parametrize(
    ("row", "joins", "recorded"),
    [
        ({"step": 1, "prompt": CHAT, "completion": RIGHT, "advantage": 0.0, "answer": "18"}, None, True),
        (BATCH, "id", False),  # the prompt is the example's
        ({"id": "eval/0", "completion": RIGHT}, "id", False),
        ({"id": "eval/0", "completion": RIGHT, "prompt": "9*2?"}, "id", True),
        ({"prompt": "9*2?", "outputs": [{"text": RIGHT}]}, "prompt", True),
        ({**SCORED, "prompt": "9*2?", "prompt_recorded": True}, None, True),
        ({**SCORED, "prompt": "9*2?", "prompt_recorded": False}, None, False),
        ({**SCORED, "prompt": "9*2?"}, None, None),  # of an earlier version
        ({**SCORED, "question": "9*2?"}, None, False),  # the prompt is made now
    ],
)
def test_whether_the_file_has_the_prompt_of_a_completion(task, row, joins, recorded):
    example = task.example({"question": "9*2?", "answer": "18"}, "eval/0", "row")
    file_format = replace(detect_format([row]), joins=joins)
    read = RowReader(task, Fields(), file_format, {"eval/0": example, "9*2?": example}).read(Record(1, row))
    assert (read.problem, read.prompt_recorded, bool(read.example.prompt)) == ("", recorded, True)


def test_samples_of_a_training_run_have_their_example(task):
    """So verifiers find the columns of the data, and the task's own template the gold answer."""
    packed = pack(Example("train/0", info={"answer": "#### 18", "hint": "eggs"}))
    row = {"id": "train/0", "completion": 1, "group": "3/2", "total": 0.0, "parts": {}, "text": RIGHT, "step": 3}
    file_format = detect_format([row])
    converted = file_format.convert({**row, "finish_reason": "length", "grpo_env": packed})
    assert (file_format.name, converted["id"], converted["group"]) == ("grpo_env scores", "train/0", "3/2")
    assert (converted["hint"], converted["finish_reason"]) == ("eggs", "length")
    assert accuracies(task, file_format, [converted]) == [[1]]


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
    assert detect_format([row]).name == name


def test_the_format_must_match_all_first_rows():
    trl = {"step": 1, "prompt": "p", "completion": "c", "advantage": 0}
    assert detect_format([trl, {"prompt": "p", "completion": "c"}]) is NATIVE
    assert detect_format([]) is NATIVE
    file_format = detect_format([trl])
    with pytest.raises(UsageError, match="no column 'advantage', which all rows of TRL completions have"):
        file_format.convert({"step": 1, "prompt": "p", "completion": "c"})


@pytest.mark.parametrize(
    "value", [None, 1, 0.5, float("inf"), True, [], [1], [[]], {}, {"role": "user"}, [{"role": "user"}], "\x00\ud800"]
)
def test_unexpected_values_raise_only_usage_errors(value):
    nested = []
    for _ in range(2000):
        nested = [nested]
    for file_format in FORMATS:
        for broken in (value, nested):
            with suppress(UsageError):
                row = file_format.convert(dict.fromkeys(file_format.columns, broken))
                assert all(isinstance(text, str) for text in texts(row))


def test_an_infinite_count_of_tokens_and_an_id_that_is_a_list_are_reported(task):
    row = {"example_id": 1, "completion": "2", "reward": 1, "token_usage": {"output_tokens": float("inf")}}
    with pytest.raises(UsageError, match="cannot convert float infinity"):
        detect_format([row]).convert(row)
    row = {"step": 1, "task": "gsm8k", "id": ["a"], "completion": "2", "score": 1.0}
    file_format = detect_format([row])
    with pytest.raises(UsageError, match=r"no example of the split has the id \['a'\] \(--split"):
        file_format.join(file_format.convert(row), {"a": task.example({"question": "?", "answer": "2"}, "a", "row")})


def test_formats_are_picklable():
    for file_format in (*FORMATS, NATIVE):
        assert pickle.loads(pickle.dumps(file_format)) == file_format


def test_a_damaged_packed_example_is_a_usage_error():
    with pytest.raises(UsageError, match="grpo_env: not an example of grpo_env"):
        TRL_COMPLETIONS.convert(
            {"step": 1, "prompt": "Q", "completion": "A", "advantage": 0, "grpo_env": '{"grpo_env": "a'}
        )
