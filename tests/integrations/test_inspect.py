"""Inspect's logs have the values of ``Task.score``, from the scorer and from exported scores."""

import gc
import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from grpo_env.errors import UsageError
from grpo_env.taskfile.task import load_task, make_task

inspect = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed (make test-integrations)")

from inspect_ai.dataset import MemoryDataset  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import precomputed_scores  # noqa: E402

from grpo_env.integrations.inspect_ai import samples, task_file, task_scorer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # the dependency's warnings
GROUP = 8
TOKENS = 30
BUNDLED = Path(__file__).parent.parent.parent / "trainer" / "bundled"


@pytest.fixture
def file(tmp_path, task):
    path = tmp_path / "task.yaml"
    path.write_text(yaml.safe_dump(task.resolved()))
    return str(path)


def model(cases):
    """Returns the eight texts of each example in turn."""
    texts, calls = {}, Counter()
    for row in cases:
        texts.setdefault(row.example.prompt[-1].content, []).append(row.text)

    def reply(messages, tools, tool_choice, config):
        prompt = messages[-1].text
        calls[prompt] += 1
        output = ModelOutput.from_content("mockllm", texts[prompt][calls[prompt] - 1])
        output.usage = ModelUsage(input_tokens=5, output_tokens=TOKENS, total_tokens=5 + TOKENS)
        return output

    return get_model("mockllm/model", custom_outputs=reply)


def log_of(task, folder, cases, **options):
    (log,) = inspect.eval(task, model=model(cases), epochs=GROUP, log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    gc.collect()  # streams that Inspect leaves open warn when they go, here rather than after the tests
    return inspect.log.read_eval_log(log.location)


def scores_by_sample(log, scorer):
    return {(sample.id, sample.epoch): sample.scores.get(scorer) for sample in log.samples}


def text_of(sample):
    return sample.output.choices[0].message.text


@pytest.mark.parametrize("part", ["total", "accuracy", "equations"])
def test_completions_get_the_values_of_the_task(tmp_path, task, cases, file, part):
    log = log_of(task_file(file, split="train", part=part), tmp_path, cases)
    # The texts of one sample reach its epochs in any order; lone surrogates do not survive Inspect's log.
    expected = Counter((row.example.id, without_surrogates(row.text), row.score.part(part).value) for row in cases)
    values = Counter()
    for sample in log.samples:
        score = sample.scores["task_scorer"]
        values[sample.id, without_surrogates(text_of(sample)), score.value] += 1
    assert values == expected
    assert sum(values.values()) == 200


def without_surrogates(text):
    return "".join("?" if "\ud800" <= char <= "\udfff" or char == "\ufffd" else char for char in text)


def test_a_score_has_an_explanation_parts_and_steps(tmp_path, task, cases, file):
    log = log_of(task_file(file, split="train", limit=1), tmp_path, cases)
    sample_of_solution = next(sample for sample in log.samples if text_of(sample) == cases[0].text)
    score, expected = sample_of_solution.scores["task_scorer"], cases[0].score
    metric = expected.part("accuracy")
    assert (score.value, score.answer, score.explanation) == (1.0, metric.answer, metric.explanation)
    assert score.metadata.get("rule", "") == metric.rule
    assert {name: score.metadata[name] for name in ("total", "strict_format", "tag_count", "equations")} == {
        name: expected.part(name).value for name in ("total", "strict_format", "tag_count", "equations")
    }
    assert score.metadata["steps"] == [[step.start, step.end, step.value] for step in expected.steps]
    assert sample_of_solution.target == cases[0].example.answer


def test_verifiers_get_token_counts(tmp_path, task, cases):
    spec = task.resolved()
    spec["verifiers"]["overlong"] = {"max_tokens": 40, "buffer": 20}
    (tmp_path / "short.yaml").write_text(yaml.safe_dump(spec))
    log = log_of(task_file(str(tmp_path / "short.yaml"), "train", 2, "overlong"), tmp_path, cases)
    assert {sample.scores["task_scorer"].value for sample in log.samples} == {(40 - 20 - TOKENS) / 20}


def test_unscored_completions_are_left_out_of_the_metrics(tmp_path, task, cases):
    spec = task.resolved()
    spec["verifiers"]["never"] = {"use": "strict_format", "format": {"reasoning": None, "answer": None}}
    (tmp_path / "never.yaml").write_text(yaml.safe_dump(spec))
    log = log_of(task_file(str(tmp_path / "never.yaml"), "train", 2, "total"), tmp_path, cases)
    for sample in log.samples:
        score = sample.scores["task_scorer"]
        assert math.isnan(score.value)
        assert score.metadata["never"] is None
        assert score.metadata["accuracy"] is not None
    (result,) = log.results.scores
    assert (result.scored_samples, result.unscored_samples) == (0, 2)


def test_groups_and_schedules_and_environments_and_unknown_parts_are_refused(tmp_path, task, cases):
    spec = task.resolved()
    for name, options in {
        "majority": {},
        "tag_count": {"weight": {"linear": {"from": 1, "to": 0, "steps": 5}}},
    }.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**spec, "verifiers": {**spec["verifiers"], name: options}}))
        with pytest.raises(UsageError, match="Inspect"):
            task_scorer(str(path))
    for use in (task_scorer, lambda name: samples(load_task(name))):
        with pytest.raises(UsageError, match="an environment, whose episodes are not played by Inspect"):
            use("till")
    with pytest.raises(UsageError, match="did you mean 'accuracy'"):
        task_scorer("arithmetic", part="acuracy")


def test_chats_keep_their_roles_and_text_prompts_stay_text(tmp_path, task):
    spec = task.resolved()
    spec["prompt"] = {"system": "Be brief.", "user": "{{ question }}"}
    sample = samples(make_task(spec, "chat", tmp_path), "train", 1)[0]
    assert [message.role for message in sample.input] == ["system", "user"]
    spec["prompt"] = {"text": "Q: {{ question }}"}
    sample = samples(make_task(spec, "plain", tmp_path), "train", 1)[0]
    assert sample.input.startswith("Q: ")


def command(*words, folder, **variables):
    environment = {**os.environ, "INSPECT_DISPLAY": "none", **variables}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_inspect_eval_finds_task_file_by_name(tmp_path, task, file):
    words = [str(Path(sys.executable).parent / "inspect"), "eval", "grpo_env/task_file", "-T", f"file={file}"]
    words += ["-T", "split=train", "-T", "limit=8", "--model", "hf/local", "-M", f"model_path={BUNDLED}"]
    words += ["-M", "device=cpu", "--max-tokens", "64", "--seed", "0", "--log-dir", "logs"]
    command(*words, folder=tmp_path, HF_HUB_OFFLINE="1")
    (location,) = (tmp_path / "logs").glob("*.eval")
    log = inspect.log.read_eval_log(str(location))
    assert log.status == "success"
    examples = {example.id: example for example in task.examples("train", 8)}
    values = [sample.scores["task_scorer"].value for sample in log.samples]
    for sample, value in zip(log.samples, values, strict=True):
        example = examples[sample.id]
        assert value == task.score(text_of(sample), answer=example.answer, info=example.info).part("accuracy").value
    assert any(values)  # it samples: of eight, two to five are correct


def test_inspect_imports_exported_scores(tmp_path, task, cases, file):
    with open(tmp_path / "completions.jsonl", "w") as lines:
        for at in range(0, len(cases), GROUP):
            group = cases[at : at + GROUP]
            row = {**group[0].example.info, "id": group[0].example.id, "completions": [case.text for case in group]}
            lines.write(json.dumps(row) + "\n")
    grpo_env = [sys.executable, "-P", "-m", "grpo_env"]
    command(*grpo_env, "score", file, "completions.jsonl", "--out", "scores.jsonl", folder=tmp_path)
    command(
        *grpo_env, "export", "inspect", "scores.jsonl", "--part", "total", "--out", "inspect.jsonl", folder=tmp_path
    )

    ids = [row.example.id for row in cases[::GROUP]]
    data = MemoryDataset([inspect.dataset.Sample(input="?", id=id) for id in ids])
    scorer = precomputed_scores(str(tmp_path / "inspect.jsonl"), on_missing="error")
    words = ModelOutput.from_content("mockllm", "not what is scored")
    words.usage = ModelUsage()
    (log,) = inspect.eval(
        inspect.Task(data, scorer=scorer),
        model=get_model("mockllm/model", custom_outputs=lambda *_: words),
        epochs=GROUP,
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    scores = scores_by_sample(log, "precomputed_scores")
    assert len(scores) == 200
    for index, row in enumerate(cases):
        assert scores[row.example.id, index % GROUP + 1].value == row.score.value
