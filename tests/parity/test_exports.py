"""The consumers of ``grpo_env export`` read its files: TRL's trainers take a step on them, Inspect uses the scores.

None of them is a dependency of this project, so these tests run only in environments that have them:

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt -e '.[dev]'
    /tmp/peers/bin/python -m pytest tests/parity/test_exports.py

PRMTrainer left TRL with 1.14; for it: ``pip install trl==1.13.0``. For Inspect: ``pip install inspect_ai``.
"""

import asyncio
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from grpo_env.results.export import export_file
from grpo_env.results.export.inspect_records import Inspect
from grpo_env.results.export.training_sets import Dpo, Prm, Sft

pytestmark = pytest.mark.filterwarnings("ignore")  # from the other packages

BUNDLED = str(Path(__file__).parent.parent.parent / "trainer" / "bundled")
CHAT = [{"role": "user", "content": "2 + 2"}]
PROMPTS = pytest.mark.parametrize("prompt", [CHAT, "2 + 2 = "], ids=["chat", "plain"])
SUFFIXES = pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])


def scores(prompt):
    """Four groups of three: correct, wrong, unscored; two steps each, the second good if the answer is correct."""
    for group in range(4):
        for n, value in enumerate([1.0, 0.0, None]):
            text = f"1 + {group} = {group + 1}\n2 + 2 = {4 + n}"
            status = "scored" if value is not None else "error"
            steps = [{"start": 0, "end": 5, "value": 1.0}, {"start": 10, "end": len(text), "value": float(n == 0)}]
            part = {"value": value, "status": status, "weight": 1.0, "answer": str(4 + n), "explanation": "why"}
            row = {"id": f"q{group}", "group": f"q{group}", "completion": n, "prompt": prompt, "text": text}
            row |= {"total": value, "status": status, "metric": "accuracy", "finish_reason": "stop"}
            stepped = {**part, "value": 0.5, "status": "scored", "steps": steps}
            yield row | {"parts": {"accuracy": part, "steps": stepped}}


def load_export(kind, prompt, path):
    """The exported file, loaded as TRL's scripts do."""
    from datasets import load_dataset

    export_file(scores(prompt), kind, path)
    builder = "json" if path.suffix == ".jsonl" else "parquet"
    return load_dataset(builder, data_files=str(path), split="train", cache_dir=str(path.parent / "cache"))


def arguments(config, path, **more):
    return config(output_dir=str(path), max_steps=1, report_to="none", use_cpu=True, bf16=False, **more)


def tokenizer():
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(BUNDLED)


@PROMPTS
@SUFFIXES
def test_trl_trains_on_accepted_completions(tmp_path, prompt, suffix):
    trl = pytest.importorskip("trl")
    data = load_export(Sft(), prompt, tmp_path / f"sft{suffix}")
    assert trl.is_conversational(data[0]) == (prompt is CHAT)
    trainer = trl.SFTTrainer(BUNDLED, arguments(trl.SFTConfig, tmp_path), train_dataset=data)
    prepared = trainer.train_dataset[0]
    trained = [token for token, label in zip(prepared["input_ids"], prepared["labels"], strict=True) if label != -100]
    assert "1 + 0 = 1\n2 + 2 = 4" in tokenizer().decode(trained)
    assert math.isfinite(trainer.train().training_loss)


@PROMPTS
@SUFFIXES
def test_trl_trains_on_preference_pairs(tmp_path, prompt, suffix):
    trl = pytest.importorskip("trl")
    data = load_export(Dpo(), prompt, tmp_path / f"dpo{suffix}")
    assert data.column_names == ["id", "prompt", "chosen", "rejected"]
    trainer = trl.DPOTrainer(BUNDLED, args=arguments(trl.DPOConfig, tmp_path), train_dataset=data)
    prepared = trainer.train_dataset[0]
    assert "2 + 2 = 4" in tokenizer().decode(prepared["chosen_ids"])
    assert "2 + 2 = 5" in tokenizer().decode(prepared["rejected_ids"])
    assert math.isfinite(trainer.train().training_loss)


@PROMPTS
@SUFFIXES
def test_trl_trains_a_process_reward_model_on_steps(tmp_path, prompt, suffix):
    prm = pytest.importorskip("trl.experimental.prm", reason="this TRL has no PRMTrainer")
    from transformers import AutoModelForTokenClassification

    data = load_export(Prm(), prompt, tmp_path / f"prm{suffix}")
    assert (data[0]["labels"], data[1]["labels"]) == ([True, True], [True, False])
    model = AutoModelForTokenClassification.from_pretrained(BUNDLED, num_labels=2)
    settings = arguments(prm.PRMConfig, tmp_path)
    trainer = prm.PRMTrainer(model, settings, processing_class=tokenizer(), train_dataset=data)
    assert [label for label in trainer.train_dataset[1]["labels"] if label != -100] == [1, 0]
    assert math.isfinite(trainer.train().training_loss)


def test_inspect_scores_samples_and_epochs_from_the_records(tmp_path):
    scorer = pytest.importorskip("inspect_ai.scorer")
    export_file(scores(CHAT), Inspect(), tmp_path / "scores.jsonl")
    score = scorer.precomputed_scores(str(tmp_path / "scores.jsonl"))

    def record(id, epoch):
        return asyncio.run(score(SimpleNamespace(sample_id=id, epoch=epoch), None))

    correct, wrong = record("q3", 1), record("q3", 2)
    assert (correct.value, correct.answer, correct.explanation) == (1.0, "4", "why")
    assert (wrong.value, wrong.answer, wrong.metadata["total"]) == (0.0, "5", 0.0)
    assert record("q3", 3) is None  # unscored
    assert record("unknown", 1) is None
