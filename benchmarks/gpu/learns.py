"""The stage "learns": held-out accuracy over time, with TRL's trainer in equal time.

GSM8K's prompts begin with two worked examples, as those of the sums do (``learning.SUMS``).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import learning
from plan import Measurement, Setup
from sides import Work

GSM8K_SHOTS = [
    {
        "user": "A baker sells 12 rolls in the morning and twice as many in the afternoon. How many rolls are sold?",
        "assistant": "<think>\n12*2=24\n12+24=36\n</think>\n<answer>\n36\n</answer>",
    },
    {
        "user": "Mia has $20. She buys 3 pens for $4 each. How many dollars are left?",
        "assistant": "<think>\n3*4=12\n20-12=8\n</think>\n<answer>\n8\n</answer>",
    },
]


def measurements(setup: Setup) -> list[Measurement]:
    """Sums first, which a model of this size learns within 60 steps (``docs/results.md``), one seed after the other.

    GSM8K comes last, for when minutes are left, with one long curve per side: the model solves so few problems that
    300 examples would not show what it learns in a minute or two.
    """
    sums = _work(setup, "arithmetic", setup.model, learning.SUMS, SMALL_STEP)
    bundled = _work(setup, "arithmetic", "bundled", {}, {})
    gsm8k = _work(setup, "gsm8k", setup.model, _gsm8k(setup), LARGE_STEP)
    seeds = range(1 if setup.tiny else 2)
    return [
        *(_curve(setup, "sums", sums, ("model",), 40, *kind, seed) for seed in seeds for kind in CURVES),
        *(_curve(setup, "arithmetic", bundled, (), 30, *kind, 0) for kind in CURVES[:2]),
        *(_curve(setup, "GSM8K", gsm8k, ("model", "data"), 450, *kind, 0) for kind in CURVES[:2]),
    ]


CURVES = (("ours", "outcome"), ("trl", "outcome"), ("ours", "both"), ("ours", "values"))
SUPERVISION: dict[str, dict[str, Any]] = {"values": {"supervision": "process", "step_values.rollouts": 4}}
SMALL_STEP = {"prompts_per_step": 16, "group_size": 16, "sampling.max_new_tokens": 64, "optimizer.learning_rate": 1e-5}
LARGE_STEP = {"prompts_per_step": 16, "group_size": 16, "sampling.max_new_tokens": 384, "optimizer.learning_rate": 1e-5}


def _gsm8k(setup: Setup) -> dict[str, Any]:
    return {"dataset.path": f"{setup.data}/gsm8k_{{split}}.jsonl", "prompt.shots": GSM8K_SHOTS}


def _work(setup: Setup, task: str, model: str | None, overrides: dict[str, Any], settings: dict[str, Any]) -> Work:
    """What both sides do, with a constant learning rate after the warm-up."""
    settings = {
        **settings,
        "model": model or "bundled",
        "steps": learning.MAX_STEPS,
        "optimizer.lr_schedule": "constant",
        "engine.device": setup.device,
        "engine.precision": setup.precision,
    }
    if setup.tiny:
        settings |= {"prompts_per_step": 2, "group_size": 2, "sampling.max_new_tokens": 8}
        settings |= {"sampling.overlong_prompts": "drop"}  # the bundled model has few positions
    ours = {"engine.micro_batch_tokens": 4096 if setup.tiny else 16384}
    return Work(task, overrides, settings, ours, {"per_device_train_batch_size": 32})


def _curve(
    setup: Setup,
    name: str,
    work: Work,
    needs: tuple[str, ...],
    seconds: float,
    side: str,
    supervision: str,
    seed: int,
) -> Measurement:
    if setup.tiny:
        seconds = 3 if name == "arithmetic" else 20
    settings = {**work.settings, "seed": seed, **SUPERVISION.get(supervision, {"supervision": supervision})}
    work = Work(work.task, work.overrides, settings, work.ours, work.trl)
    run = partial(_points, side, work, seconds, 4 if setup.tiny else 300)
    needs += ("trl",) if side == "trl" else ()
    return Measurement(f"learns/{name}/{side}, {supervision}, seed {seed}", run, 120 + 3 * seconds, needs)


def _points(side: str, work: Work, seconds: float, examples: int) -> dict[str, Any]:
    points = learning.curve(side, sys.executable, work, seconds / 3, seconds, examples, "wall")
    return {"points": points}
