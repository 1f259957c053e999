"""A tiny random model, a tokenizer made here, and a task whose rewards such a model can earn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from grpo_env import load_task
from grpo_env.taskfile.task import Task
from grpo_env.trainer.config import flatten
from grpo_env.trainer.engine.policy import Policy, load_policy

from . import toy_verifiers as toy_verifiers

TEXTS = ["the cat sat on a mat.", "what is 3+4? it is 7.", "Größe, é, 漢字 und 🙂🙃", "aeiou bcdfg"]


# On matrices this small, threads only wait for each other.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=280, special_tokens=["<end>", "<stop>"], initial_alphabet=alphabet)
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<end>")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        initializer_range=0.15,
        bos_token_id=None,
        eos_token_id=[0, 1],
        pad_token_id=None,
    )
    folder = tmp_path_factory.mktemp("models") / "tiny"
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def policy(model_folder: Path) -> Policy:
    return load_policy(str(model_folder), device="cpu")


@pytest.fixture(scope="session")
def make_task(tmp_path_factory: pytest.TempPathFactory, model_folder: Path):
    """A task on the tiny model; ``verifiers`` replaces its verifiers, ``train`` adds settings."""

    def make(verifiers: dict | None = None, **train: object) -> Task:
        folder = tmp_path_factory.mktemp("task")
        rows = [{"question": f"what is {n}+{n}?", "answer": str(2 * n)} for n in range(12)]
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        settings = {
            "model": str(model_folder),
            "steps": 3,
            "prompts_per_step": 3,
            "group_size": 4,
            "sampling.max_new_tokens": 12,
            "optimizer.learning_rate": 1e-2,
            "eval.every": 2,
            "eval.examples": 4,
            "checkpoint.every": 1,
            "engine.device": "cpu",
            **flatten(train),
        }
        spec = {
            "version": 1,
            "task": "vowels",
            "dataset": {"path": "rows.jsonl", "split": {"train": 0.5, "eval": 0.5}, "answer": "{{ answer }}"},
            "prompt": {"text": "{{ question }} "},
            "verifiers": verifiers or {"test_vowels": {"weight": 1.0, "process": 1.0}},
            "metric": next(iter(verifiers or ["test_vowels"])),
            "train": settings,
        }
        (folder / "vowels.yaml").write_text(json.dumps(spec))
        return load_task(folder / "vowels.yaml")

    return make
