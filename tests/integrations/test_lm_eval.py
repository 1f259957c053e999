"""``grpo_env score`` reads the samples file of lm-evaluation-harness and gets the scores of ``Task.score``."""

import json
import subprocess
import sys

import pytest
import yaml

pytest.importorskip("lm_eval", reason="lm-eval is not installed (make test-integrations)")

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

pytestmark = pytest.mark.filterwarnings("ignore")  # the dependency's warnings
GROUP = 8


class Canned(LM):
    """Returns the texts of a prompt, one per request."""

    def __init__(self, texts):
        super().__init__()
        self.left = {prompt: list(replies) for prompt, replies in texts.items()}

    def generate_until(self, requests, disable_tqdm=False):
        return [self.left[request.args[0]].pop(0) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def samples_file(folder, cases):
    """The harness's samples file of the completions. A row is a document with its eight repeats."""
    with open(folder / "data.jsonl", "w") as lines:
        for row in cases[::GROUP]:
            lines.write(json.dumps(dict(row.example.info)) + "\n")
    config = {
        "task": "sums",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "data.jsonl")}, "cache_dir": str(folder / "cache")},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "repeats": GROUP,
        "generation_kwargs": {"until": [], "do_sample": True},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "filter_list": [{"name": "first", "filter": [{"function": "take_first"}]}],
    }
    (folder / "tasks").mkdir()
    (folder / "tasks" / "sums.yaml").write_text(yaml.safe_dump(config))
    texts = {}
    for row in cases:
        texts.setdefault(row.example.info["question"], []).append(row.text)
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    results = simple_evaluate(
        Canned(texts),
        tasks=["sums"],
        task_manager=TaskManager(include_path=str(folder / "tasks"), include_defaults=False),
        log_samples=True,
        evaluation_tracker=tracker,
        bootstrap_iters=0,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name="sums", samples=samples["sums"])
    (file,) = (folder / "out").rglob("samples_sums_*.jsonl")
    return file


def test_the_samples_file_gets_the_scores_of_the_task(tmp_path, task, cases):
    file = samples_file(tmp_path, cases)
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(task.resolved()))
    command = [sys.executable, "-P", "-m", "grpo_env", "score", "task.yaml", str(file), "--out", "scores.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "lm-eval samples" in done.stdout + done.stderr
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert len(rows) == 200
    for row, case in zip(rows, cases, strict=True):
        assert row["text"] == case.text
        assert row["total"] == case.score.value
        assert {name: part["value"] for name, part in row["parts"].items()} == {
            part.name: part.value for part in case.score.walk() if part is not case.score
        }
