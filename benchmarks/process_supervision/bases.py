"""The starting models of the study: the bundled one, taught longer chains for a while, then carelessness again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo_env.tasks.pretrain import CARELESS, CLEAN, Phase, Row, careless_teacher, save, teach
from grpo_env.trainer.engine.policy import BUNDLED

LONG = (3, 6)  # operations of a problem
PADS = 0.25  # share of the padding teacher's answers with a useless line


def padding_teacher(row: Row, rng: random.Random) -> str:
    """The careless teacher, who now and then writes down a sum that nobody asked for."""
    text = careless_teacher(row, rng)
    if rng.random() >= PADS:
        return text
    lines = text.split("\n")
    equations = [place for place, line in enumerate(lines) if "=" in line]
    left, right = rng.randint(1, 9), rng.randint(1, 9)
    lines.insert(rng.choice(equations) + rng.randint(0, 1), f"{left}+{right}={left + right}")
    return "\n".join(lines)


# Going on from a model that knows short chains, a fraction of the bundled model's recipe is enough.
PHASES: Mapping[str, Sequence[Phase]] = {
    "long": (
        replace(CLEAN, steps=100, learning_rate=1e-3, operations=LONG),
        replace(CARELESS, steps=50, operations=LONG),
    ),
    "padding": (replace(CARELESS, name="padding", teacher=padding_teacher, steps=40),),
}


def base(name: str, folder: Path) -> str:
    """The model ``name``: ``bundled``, or the folder of one of ``PHASES``, made in ``folder`` if it is not there."""
    if name == "bundled":
        return name
    made = folder / name
    if not (made / "done").exists():
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
        model = AutoModelForCausalLM.from_pretrained(BUNDLED, dtype=torch.float32)
        for phase in PHASES[name]:
            teach(model, tokenizer, phase, seed=0)
        save(model, tokenizer, made)
        (made / "done").touch()
    return str(made)
