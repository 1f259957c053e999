"""The README of a trained model, and its upload to a stand-in for the Hub."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from huggingface_hub.errors import LocalTokenNotFoundError
from transformers import AutoModelForCausalLM

from grpo_env.errors import RunError, UsageError
from grpo_env.taskfile.task import Task, load_task
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.run.hub import check_push
from grpo_env.trainer.run.model_card import model_card

SHORT = {"steps": 1, "eval.every": 0, "eval.examples": 2}
USER = {"name": "ann", "orgs": [{"name": "lab"}], "auth": {"accessToken": {"role": "write"}}}


def parts_of(card: str) -> tuple[dict, str]:
    _, metadata, text = card.split("---\n", 2)
    return yaml.safe_load(metadata), text


def test_the_card_of_a_run(make_task, tmp_path: Path) -> None:
    task = make_task(**SHORT)
    result = train(task, run_dir=tmp_path / "run", loss={"clip_high": 0.5})
    metadata, text = parts_of((result.run_dir / "model" / "README.md").read_text())
    assert metadata["library_name"] == "transformers"
    assert "base_model" not in metadata  # a folder here is not a model of the Hub
    rows = [json.loads(line) for line in (result.run_dir / "metrics.jsonl").read_text().splitlines()]
    before, after = (row for row in rows if row["kind"] == "eval")
    intervals = [
        f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, {row['accuracy_high']:.3f}]" for row in (before, after)
    ]
    assert f"| accuracy, greedy | {intervals[0]} | {intervals[1]} |" in text
    assert f"| reward, greedy | {before['reward']:.3f} | {after['reward']:.3f} |" in text
    assert "# vowels, from tiny" in text
    assert "data: `rows.jsonl`; metric: `test_vowels`" in text
    assert "| `loss.clip_high` | `0.5` |" in text
    assert "| `steps` | `1` |" in text
    assert "clip_low" not in text
    assert "](curves.png)" in text
    assert (result.run_dir / "model" / "curves.png").read_bytes() == (result.run_dir / "curves.png").read_bytes()
    assert str(tmp_path.parent) not in text
    AutoModelForCausalLM.from_pretrained(result.run_dir / "model")


def test_the_card_of_an_adapter_replaces_the_form_of_peft(make_task, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    result = train(make_task(**SHORT, **{"lora.rank": 2}), run_dir=tmp_path / "run")
    metadata, text = parts_of((result.run_dir / "model" / "README.md").read_text())
    assert metadata["library_name"] == "peft"
    assert text.count("A LoRA adapter") == 1
    assert "More Information Needed" not in text


def card_of(make_task, keys: dict[str, object], rows: list[dict] | None = None, **settings: object) -> tuple[dict, str]:
    task: Task = load_task(make_task().source, keys)
    return parts_of(model_card([task], TrainConfig.from_mapping(settings), rows or [], is_adapter=False))


def test_ids_of_the_hub_are_metadata_and_private_values_are_left_out(make_task) -> None:
    keys = {"dataset": {"path": "lab/sums", "answer": "{{ answer }}"}, "description": "Sums\nof | two"}
    settings = {
        "model": "org/base-1b",
        "tracker": "wandb",
        "push": "ann/new",
        "loss.function": "/home/ann/secret/own.py:f",
        "sampling": {"engine": "vllm", "url": "http://10.0.0.1:8000"},
    }
    metadata, text = card_of(make_task, keys, **settings)
    assert (metadata["base_model"], metadata["datasets"]) == ("org/base-1b", ["lab/sums"])
    assert "| `loss.function` | `own.py:f` |" in text
    assert "**vowels**: Sums of | two (data: `lab/sums`" in text
    for private in ("wandb", "ann/new", "secret", "10.0.0.1"):
        assert private not in text
    assert "## Evaluation\n\nNone." in text


def test_figures_that_are_not_known(make_task) -> None:
    rows = [{"kind": "eval", "step": step, "accuracy": None, "length": 3.25} for step in (0, 7)]
    _, text = card_of(make_task, {}, rows)
    assert "| | after 0 steps | after 7 steps |" in text
    assert "| accuracy, greedy | unknown | unknown |" in text
    assert "| length in tokens, greedy | 3.2 | 3.2 |" in text
    assert "The defaults of grpo_env." in text
    assert "# vowels, from the bundled model of grpo_env" in text


class Hub:
    """What a run uses of ``HfApi``: an account, the repositories that exist, and the files that are uploaded."""

    def __init__(self) -> None:
        self.user: dict | Exception = USER
        self.upload_error: Exception | None = None
        self.files: dict[str, dict[str, bytes]] = {"ann/old": {}}
        self.private: dict[str, bool] = {}

    def whoami(self) -> dict:
        if isinstance(self.user, Exception):
            raise self.user
        return self.user

    def repo_exists(self, repo: str) -> bool:
        return repo in self.files

    def create_repo(self, repo: str, private: bool) -> str:
        assert repo not in self.files
        self.files[repo], self.private[repo] = {}, private
        return f"https://hub/{repo}"

    def upload_folder(self, repo_id: str, folder_path: Path, commit_message: str) -> None:
        if self.upload_error is not None:
            raise self.upload_error
        self.files[repo_id] = {path.name: path.read_bytes() for path in folder_path.iterdir()}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    stand_in = Hub()
    monkeypatch.setattr("grpo_env.trainer.run.hub.HfApi", lambda: stand_in)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return stand_in


def test_a_trained_model_is_pushed(hub: Hub, make_task, tmp_path: Path, capsys) -> None:
    model = train(make_task(**SHORT), run_dir=tmp_path / "run", push="lab/new").run_dir / "model"
    assert hub.files["lab/new"] == {path.name: path.read_bytes() for path in model.iterdir()}
    assert {"README.md", "curves.png", "model.safetensors", "tokenizer.json"} <= hub.files["lab/new"].keys()
    assert hub.private == {"lab/new": True}
    assert "pushed     https://hub/lab/new (private)" in capsys.readouterr().err


def test_a_resumed_run_pushes(hub: Hub, make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(run: object) -> None:
        raise RunError("stop")

    task = make_task(**SHORT)
    with monkeypatch.context() as patch:
        patch.setattr("grpo_env.trainer.loop.finish", fail)
        with pytest.raises(RunError):
            train(task, run_dir=tmp_path / "run", push="lab/new")
    assert "lab/new" not in hub.files
    resume(tmp_path / "run")
    assert "README.md" in hub.files["lab/new"]


def test_a_failed_upload_leaves_the_model_and_says_how_to_go_on(hub: Hub, make_task, tmp_path: Path) -> None:
    hub.upload_error = OSError("no route\nto host")
    model = tmp_path / "run" / "model"
    with pytest.raises(RunError) as caught:
        train(make_task(**SHORT), run_dir=tmp_path / "run", push="ann/new")
    assert str(caught.value) == (
        f"push=ann/new: the upload failed (no route). The model is in {model}; upload it with: "
        f"hf upload ann/new {model}"
    )
    assert (model / "README.md").exists()


@pytest.mark.parametrize(
    ("repo", "user", "message"),
    [
        ("new", USER, "push=new: expected ORG/NAME"),
        ("a/b/c", USER, "expected ORG/NAME"),
        ("ann/new", LocalTokenNotFoundError("Token is required"), "not logged in to the Hub (Token is required); run"),
        ("bob/new", USER, "push=bob/new: bob is none of your accounts: ann, lab"),
        ("ann/new", {**USER, "auth": {"accessToken": {"role": "read"}}}, "your token can only read"),
        ("ann/old", USER, "push=ann/old already exists, and its files are not overwritten; choose another name"),
    ],
)
def test_what_cannot_be_pushed_is_refused_before_training(
    hub: Hub, make_task, tmp_path: Path, repo: str, user: dict | Exception, message: str
) -> None:
    hub.user = user
    with pytest.raises(UsageError) as caught:
        train(make_task(**SHORT), run_dir=tmp_path / "run", push=repo)
    assert message in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_nothing_is_pushed_offline(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match=r"push=ann/new: HF_HUB_OFFLINE is set, so nothing can be uploaded"):
        check_push("ann/new")
    check_push(None)
