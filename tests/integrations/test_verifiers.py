"""``vf-eval`` runs tasks against a local server and saves the rewards of ``Task.score``."""

from collections import Counter
from importlib.metadata import distributions

import pytest

from grpo_env.core import score_one
from grpo_env.rows.formats.detect import detect_format
from grpo_env.rows.reader import read_records
from grpo_env.scoring.row_reader import RowReader
from grpo_env.taskfile.task import make_task

from .conftest import GROUP
from .vf_eval import vf_eval

# By its metadata: from the repository's root a bare `import verifiers` finds the folder of that name.
if not list(distributions(name="verifiers")):
    pytest.skip("verifiers is not installed (make test-integrations)", allow_module_level=True)


def test_vf_eval_saves_the_rewards_of_all_completions(tmp_path, task, cases, serve):
    texts = {}
    expected = Counter()
    for row in cases:
        (message,) = row.example.prompt
        texts.setdefault(message.content, []).append(row.text)
        values = {part.name: part.value for part in row.score.walk() if part is not row.score}
        expected[row.example.id, row.text, row.score.value, tuple(sorted(values.items()))] += 1

    done, traces, file = vf_eval(tmp_path, task, serve(texts), GROUP)
    assert done.returncode == 0, done.stderr
    counts = Counter()
    for trace in traces:
        assert trace["ok"], trace["errors"]
        (reward,) = trace["rewards"].values()
        data, text = trace["task"]["data"], trace["nodes"][-1]["message"].get("content") or ""
        counts[data["id"], text, reward["score"], tuple(sorted(trace["metrics"].items()))] += 1
        assert trace["info"]["grpo_env"]["value"] == reward["score"]
    assert counts == expected
    assert sum(counts.values()) == 200

    # The saved traces can be scored as a file of completions.
    records = list(read_records(file))
    reader = RowReader(task, file_format=detect_format([record.row for record in records]))
    for record, trace in zip(records, traces, strict=True):
        row = reader.read(record)
        assert row.id == trace["task"]["data"]["id"]
        score = score_one(task.verifier, row.example, row.completions[0])
        assert {part.name: part.value for part in score.walk() if part is not score} == trace["metrics"]


def test_an_unscored_completion_is_a_failed_rollout(tmp_path, task, serve):
    spec = task.resolved()
    spec["dataset"]["limit"] = {"train": 1, "eval": 1}
    spec["verifiers"]["overlong"] = {"max_tokens": 20}
    short = make_task(spec, "short", tmp_path)
    (example,) = short.examples("train")
    texts = {example.prompt[-1].content: ["<answer>1</answer>"]}
    _, (trace,), _ = vf_eval(tmp_path, short, serve(texts, usage=None), 1)
    assert not trace["ok"]
    assert trace["errors"][-1]["type"] == "TaskError"
    assert "unscored" in trace["errors"][-1]["message"]
    assert trace["metrics"]["accuracy"] == 0.0
    assert "overlong" not in trace["metrics"]


@pytest.mark.parametrize(
    ("verifiers", "message"),
    [
        ({"majority": {}}, "compares the completions of a group, but verifiers"),
        ({"tag_count": {"weight": {"linear": {"from": 1, "to": 0, "steps": 5}}}}, "verifiers"),
    ],
)
def test_tasks_with_groups_or_schedules_are_refused(tmp_path, task, serve, verifiers, message):
    spec = task.resolved()
    spec["verifiers"].update(verifiers)
    done, traces, _ = vf_eval(tmp_path, make_task(spec, "refused", tmp_path), serve({}), 1)
    assert done.returncode != 0
    assert not traces
    assert message in done.stderr
