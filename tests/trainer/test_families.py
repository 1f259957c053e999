"""Every family trains: two steps from a folder, with what the run's first lines say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from grpo_env.trainer.loop import train

from .families import FAMILIES, HYBRID, tiny_model


@pytest.mark.parametrize("family", FAMILIES)
def test_two_steps(
    family: str, make_task, model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    tiny_model(family, vocab_size=len(tokenizer), eos_token_id=0).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    once = {"eval.every": 0, "eval.at_start": False, "eval.examples": 2, "checkpoint.every": 0}
    task = make_task(steps=2, model=str(tmp_path / "model"), **once, **{"sampling.max_new_tokens": 8})
    train(task, run_dir=tmp_path / "run")
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    steps = [row for row in rows if "loss" in row]
    assert len(steps) == 2
    assert all(row["grad_norm"] > 0 for row in steps)
    assert ("rows in one would read each other" in capsys.readouterr().err) == (family in HYBRID)
