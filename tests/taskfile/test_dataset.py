"""Where rows come from: the hub (one on this machine, and its cache), folders of ``datasets``, patterns of files."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from grpo_env.errors import UsageError
from grpo_env.taskfile.dataset import fingerprint
from grpo_env.taskfile.task import Task, load_task, make_task

from .hub import serve

OLD, NEW = "a" * 40, "b" * 40
CARD = """---
configs:
- config_name: main
  data_files: [{split: train, path: main/train-*}, {split: test, path: main/test-*}]
---
"""
# A row of output for each source on the command line: the answers of the eval split, or the error.
LOAD = """
import json, sys
from grpo_env.taskfile.task import load_task
for keys in json.loads(sys.argv[1]):
    try:
        task = load_task("gsm8k", {f"dataset.{key}": value for key, value in keys.items()})
        print(json.dumps([example.answer for example in task.examples("eval")]))
    except ValueError as error:
        print(json.dumps(str(error)))
"""


def gsm8k_row(split: str, number: int) -> dict[str, str]:
    return {"question": f"{split} {number}?", "answer": f"so\n#### {number}"}


def write_repository(folder: Path, numbers: range) -> None:
    """``openai/gsm8k`` as it is laid out on the hub, with other rows."""
    (folder / "main").mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    for split in ("train", "test"):
        table = pa.Table.from_pylist([gsm8k_row(split, number) for number in numbers])
        pq.write_table(table, folder / "main" / f"{split}-00000-of-00001.parquet")


def load(home: Path, sources: list[dict[str, Any]], **environment: str) -> list[Any]:
    """The answers of gsm8k from each source in a process of its own, since the client reads its variables once."""
    variables = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", **environment}
    command = [sys.executable, "-c", LOAD, json.dumps(sources)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_hub_dataset_by_revision_files_stream_and_cache(tmp_path: Path) -> None:
    for commit, numbers in ((OLD, range(1, 3)), (NEW, range(1, 5))):
        write_repository(tmp_path / "hub" / "openai" / "gsm8k" / commit, numbers)
    sources: list[dict[str, Any]] = [
        {},
        {"revision": "v1"},
        {"revision": NEW},
        {"revision": "v9"},
        {"streaming": True, "limit": {"eval": 3}},
        {"data_files": {"test": "main/train-*"}},
        {"split": {"train": "train", "eval": "test[1:3]"}},
        {"name": "socratic"},
        {"split": {"train": 0.5, "eval": 0.5}},
    ]
    with serve(tmp_path / "hub", {"main": NEW, "v1": OLD}) as address:
        *answers, config, fractions = load(tmp_path / "home", sources, HF_ENDPOINT=address)
    first, all_four = ["1", "2"], ["1", "2", "3", "4"]
    assert answers[:3] == [all_four, first, all_four]
    assert "Revision 'v9' doesn't exist" in answers[3]
    assert answers[4:] == [["1", "2", "3"], all_four, ["2", "3"]]
    assert "cannot be loaded: BuilderConfig 'socratic' not found. Available: ['main']" in config
    assert "fractions in 'split' are for local files" in fractions

    # Without the hub: what was prepared before, but no commit that was not.
    pinned: list[dict[str, Any]] = [{"revision": NEW}, {"revision": "c" * 40}, {"revision": OLD}]
    offline = load(tmp_path / "home", [{}, *pinned], HF_HUB_OFFLINE="1")
    assert offline[0] in (first, all_four)
    cached = OLD if offline[0] == first else NEW
    assert f"the hub cannot be reached, and the cache has commit {cached}, not {'c' * 40}; for a local" in offline[2]
    assert offline[1] == all_four if cached == NEW else "cannot be reached" in offline[1]
    assert offline[3] == first if cached == OLD else "cannot be reached" in offline[3]


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes a task with keys of ``dataset``, in a folder of its own."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")

    def make(path: str, **keys: Any) -> Task:
        dataset = {"path": path, "answer": "{{ answer.split('####')[1] | trim }}", **keys}
        data = {"version": 1, "task": "t", "dataset": dataset, "prompt": {"user": "{{ question }}"}}
        return make_task({**data, "verifiers": {"accuracy": {}}, "metric": "accuracy"}, "t.yaml", tmp_path)

    return make


def answers(task: Task, split: Any = "eval") -> list[str | None]:
    return [example.answer for example in task.examples(split)]


def write_jsonl(path: Path, numbers: range) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(gsm8k_row("all", number)) + "\n" for number in numbers))


SPLIT = {"train": "train", "eval": "test"}
HALVES = {"train": 0.5, "eval": 0.5}


def test_a_folder_laid_out_as_on_the_hub(tmp_path: Path, task: Any) -> None:
    write_repository(tmp_path / "clone", range(1, 4))
    assert answers(task("clone", name="main", split=SPLIT)) == ["1", "2", "3"]
    assert answers(task("clone", name="main", split={**SPLIT, "eval": "test[-1:]"})) == ["3"]
    assert answers(task("clone", data_files={"test": "main/train-*"}, split=SPLIT, limit={"eval": 2})) == ["1", "2"]
    override = {"dataset.name": "main", "dataset.path": str(tmp_path / "clone")}  # in any order
    assert answers(load_task("gsm8k", override)) == ["1", "2", "3"]
    again = make_task(task("clone", name="main", split=SPLIT).resolved(), "run/task.yaml", Path("/"))
    assert answers(again) == ["1", "2", "3"]


def test_folders_of_save_to_disk(tmp_path: Path, task: Any) -> None:
    whole = datasets.Dataset.from_list([gsm8k_row("all", number) for number in range(1, 41)])
    whole.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": whole, "test": whole.select([1, 2])}).save_to_disk(tmp_path / "dict")
    assert answers(task("dict", split=SPLIT)) == ["2", "3"]
    assert answers(task("dict/{split}", split=SPLIT)) == ["2", "3"]
    assert task("dict", split=SPLIT).examples("eval")[1].place == "eval row 2 (from 1)"
    halves = [answers(task("one", split=HALVES), split) for split in ("train", "eval")]
    assert sorted(map(int, halves[0] + halves[1])) == list(range(1, 41))
    assert min(map(len, halves)) > 5
    for keys, message in (
        ({"path": "dict", "split": {"eval": "dev"}}, "dataset 'dict': no split 'dev'; it has train, test"),
        ({"path": "one", "split": SPLIT}, "one: one file cannot be both splits"),
        ({"path": "dict", "split": SPLIT, "revision": "v1"}, "dataset.revision is for datasets of the hub"),
    ):
        with pytest.raises(UsageError, match=message):
            task(**keys).examples("eval")


def test_numbers_of_32_bits_are_what_was_written(tmp_path: Path, task: Any) -> None:
    features = datasets.Features({"question": datasets.Value("string"), "answer": datasets.Value("float32")})
    data = datasets.Dataset.from_list([{"question": "?", "answer": 0.1}], features=features)
    data.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"test": data}).save_to_disk(tmp_path / "dict")
    for loaded in (task("one", split={"eval": 1.0}), task("dict", split={"eval": "test"})):
        assert [row.row["answer"] for row in loaded.rows("eval").rows] == [0.1]


def test_a_pattern_is_all_files_that_it_matches(tmp_path: Path, task: Any) -> None:
    for name, numbers in (("b", range(3, 5)), ("a", range(1, 3)), ("c[1]", range(5, 6))):
        write_jsonl(tmp_path / "shards" / f"eval-{name}.jsonl", numbers)
    shards = task("shards/{split}-*.jsonl", split={"eval": "eval"})
    assert answers(shards) == ["1", "2", "3", "4", "5"]
    assert shards.examples("eval")[2].place == "shards/eval-b.jsonl, line 1"
    assert answers(task("shards/eval-c[1].jsonl", split={"eval": "eval"})) == ["5"]  # a file of this name
    assert answers(task(f"{tmp_path}/**/*-a.jsonl", split={"eval": "eval"})) == ["1", "2"]
    both = [answers(task("shards/*", split=HALVES), split) for split in ("train", "eval")]
    assert sorted(both[0] + both[1]) == ["1", "2", "3", "4", "5"]
    for keys, message in (
        ({"path": "shards/*.csv", "split": HALVES}, r"shards/\*\.csv: no file matches this pattern"),
        ({"path": "shards/*", "split": SPLIT}, r"shards/\*: one file cannot be both splits"),
        ({"path": "shards/*", "split": HALVES, "streaming": True}, "dataset.streaming is for datasets of the hub"),
    ):
        with pytest.raises(UsageError, match=message):
            task(**keys).examples("eval")


def test_limits_count_rows_that_are_used(tmp_path: Path, task: Any) -> None:
    rows = [{"question": "?", "level": n % 2, "answer": f"#### {'' if n in (2, 6) else n}"} for n in range(1, 13)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines: list[str] = []
    limited = task(
        "rows.jsonl",
        split={"eval": "eval"},
        filter="{{ level == 0 }}",
        bad_gold="skip",
        limit={"eval": 2},
    )
    examples = limited.examples("eval", report=lines.append)
    assert [(example.answer, example.id) for example in examples] == [("4", "eval/3"), ("8", "eval/7")]
    assert lines == ["t: dataset.filter leaves out 4 of 8 rows of the eval split"]
    assert [row.row["answer"] for row in limited.rows("eval").rows] == ["#### ", "#### 4"]  # check says what is skipped


def test_keys_of_the_hub_need_a_path() -> None:
    path = Path(__file__).parents[2] / "tasks" / "arithmetic.yaml"
    data = yaml.safe_load(path.read_text())
    data["dataset"]["revision"] = "v1"
    with pytest.raises(UsageError, match="dataset: 'revision' goes with a 'path', not with a generator"):
        make_task(data, "t.yaml", path.parent)


def test_the_fingerprint_is_that_of_the_rows_as_lines() -> None:
    rows = [{"b": "ü", "a": 1}, {"a": None}]
    lines = b'{"a": 1, "b": "\\u00fc"}\n{"a": null}\n'
    assert fingerprint(rows) == hashlib.sha256(lines).hexdigest()
    assert fingerprint(rows[::-1]) != fingerprint(rows)


ROWS = [{"q": "1+1?", "a": "2"}, {"q": "1+2?", "a": "3"}]


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("bbh/one.json", {"bbh/one.json": json.dumps({"canary": "x", "examples": ROWS})}),  # BIG-Bench-Hard
        ("problems.json", {"problems.json": json.dumps({"8": ROWS[0], "12": ROWS[1]}, indent=4)}),  # TabMWP
        (
            "train/*/*.json",
            {f"train/algebra/{n}.json": json.dumps(row, indent=4) for n, row in enumerate(ROWS)},
        ),  # MATH
        ("rows.tsv", {"rows.tsv": "q\ta\n1+1?\t2\n1+2?\t3\n"}),
        ("rows.zip", {"rows.zip": {"rows.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS)}}),
    ],
)
def test_rows_in_files_as_others_publish_them(tmp_path: Path, path: str, files: dict[str, Any]) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            (tmp_path / name).write_text(content)
            continue
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member, text in content.items():
                archive.writestr(member, text)
    spec = {
        "version": 1,
        "task": "t",
        "dataset": {"path": path, "answer": "{{ a }}", "split": {"train": "a", "eval": "a"}},
        "prompt": {"user": "{{ q }}"},
        "verifiers": {"accuracy": {}},
        "metric": "accuracy",
    }
    examples = make_task(spec, "t.yaml", tmp_path).examples("train")
    assert [(example.prompt[-1].content, example.answer) for example in examples] == [(r["q"], r["a"]) for r in ROWS]
