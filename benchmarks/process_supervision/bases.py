"""The starting models of the study: the bundled one, and two trained from it on longer or on padded chains."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo_env.tasks.pretrain import CARELESS, CLEAN, Phase, Row, batches, careless_teacher, save, teach
from grpo_env.trainer.engine.bundled import BUNDLED, MODELS

LONG = (3, 6)  # operations per problem
PADDED_FRACTION = 0.25  # of the padding teacher's solutions


def padding_teacher(row: Row, rng: random.Random) -> str:
    """A careless solution, sometimes with a true but useless equation."""
    text = careless_teacher(row, rng)
    if rng.random() >= PADDED_FRACTION:
        return text
    lines = text.split("\n")
    equations = [index for index, line in enumerate(lines) if "=" in line]
    left, right = rng.randint(1, 9), rng.randint(1, 9)
    lines.insert(rng.choice(equations) + rng.randint(0, 1), f"{left}+{right}={left + right}")
    return "\n".join(lines)


# The bundled model already knows short chains, so a fraction of its recipe is enough.
PHASES: Mapping[str, Sequence[Phase]] = {
    "long": (
        replace(CLEAN, steps=100, learning_rate=1e-3, operations=LONG),
        replace(CARELESS, steps=50, operations=LONG),
    ),
    "padding": (replace(CARELESS, name="padding", teacher=padding_teacher, steps=40),),
}


def starting_model(name: str, folder: Path) -> str:
    """A bundled model, or the folder of the model ``name`` of ``PHASES``, which is trained first if it is not there."""
    if name in MODELS:
        return name
    path = folder / name
    if not (path / "done").exists():
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
        model = AutoModelForCausalLM.from_pretrained(BUNDLED, dtype=torch.float32)
        for phase in PHASES[name]:
            teach(model, phase, batches(tokenizer, phase, seed=0))
        save(model, tokenizer, path)
        (path / "done").touch()
    return str(path)
