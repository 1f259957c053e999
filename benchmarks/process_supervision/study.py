"""Outcome supervision, process supervision and both on two tasks, and step rewards for padded chains: ten seeds each.

    python benchmarks/process_supervision/study.py --out runs/study               # all runs; resumes
    python benchmarks/process_supervision/study.py --out runs/study --only long   # the runs of one task
    python benchmarks/process_supervision/study.py --out runs/study --show        # tables and figure of finished runs

Each run has its own folder, ``OUT/runs/TASK/MODE/SEED``. Finished runs are skipped, and interrupted ones resume from
their last checkpoint, or else start again. The modes take turns, seed by seed, so that other load on the machine
affects them equally and a study that is stopped early is still balanced. The starting models of the harder tasks are
trained when they are needed, in ``OUT/models``. Uses one thread.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch

from grpo_env import load_task
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.run.checkpoint import MODEL

sys.path.insert(0, str(Path(__file__).parent))
import chains  # noqa: F401  # registers written_equations
import figures
from bases import LONG, starting_model

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Mode:
    """What is rewarded: overrides of the arithmetic task, and settings of the run."""

    settings: Settings
    task: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Setup:
    """A task with its starting model and the modes that are compared on it."""

    model: str
    modes: Mapping[str, Mode]
    settings: Settings
    task: Settings = field(default_factory=dict)
    name: str = "arithmetic"


class Cell(NamedTuple):
    """One run."""

    task: str
    mode: str
    seed: int


MONITORED = {
    "verifiers.written": {"use": "written_equations", "weight": 0.0},
    "verifiers.useless": {"use": "written_equations", "count": "useless", "weight": 0.0},
    "verifiers.expected": {"use": "written_equations", "count": "expected", "weight": 0.0},
}
SUPERVISION = {kind: Mode({"supervision": kind}) for kind in ("outcome", "process", "both")}


def credited(supervision: str, credit: str) -> Mode:
    """Step rewards that are combined in another way than the default, ``sum``."""
    return Mode({"supervision": supervision, "advantage.step_credit": credit})


RETURNS = {f"{supervision}, return": credited(supervision, "return") for supervision in ("process", "both")}

# Only steps are rewarded, as by a process reward model, without the outcome. Only ``expected`` uses the problem's data.
ANY = {"verifiers.equations": {"use": "equation_steps", "process": 1.0}}
NO_OUTCOME = {"verifiers.accuracy": {"weight": 1.0}, "verifiers.strict_format": {"weight": 0.2, "newlines": "required"}}
PROCESS = {"supervision": "process"}
PADDING = {
    "any": Mode(PROCESS, {**ANY, **NO_OUTCOME}),
    "any, mean": Mode({**PROCESS, "advantage.step_credit": "mean"}, {**ANY, **NO_OUTCOME}),
    "expected": Mode(PROCESS, NO_OUTCOME),
}

SETUPS = {
    "short": Setup("bundled", SUPERVISION, {"sampling.max_new_tokens": 64}, MONITORED),
    "long": Setup(
        "long",
        {**SUPERVISION, "both, mean": credited("both", "mean"), **RETURNS},
        {"sampling.max_new_tokens": 128},
        {**MONITORED, "dataset.arguments": {"steps": list(LONG), "operands": [2, 20]}},
    ),
    "padding": Setup("padding", PADDING, {"sampling.max_new_tokens": 64}, MONITORED),
    "till": Setup("bundled-tools", SUPERVISION, {}, name="till"),
}
# Steps are small, so that all ten seeds take an hour of one core. No problem appears twice in a run.
DATA = {"dataset.limit": {"train": 240, "eval": 100}}
COMMON = {
    "steps": 30,
    "prompts_per_step": 8,
    "engine.device": "cpu",
    "eval.every": 0,
    "eval.examples": 100,
    "eval.samples": 0,
    "checkpoint.every": 10,
}


def cells(only: str | None, seeds: int) -> Iterator[Cell]:
    """The runs of the first ``seeds`` seeds, seed by seed; ``only`` selects a task, or a mode such as ``long/both``."""
    for seed in range(seeds):
        for task, setup in SETUPS.items():
            for mode in setup.modes:
                if only is None or only in (task, f"{task}/{mode}"):
                    yield Cell(task, mode, seed)


def run(cell: Cell, out: Path) -> None:
    """Start or resume a run, unless it is finished."""
    folder = out / "runs" / cell.task / cell.mode / str(cell.seed)
    if (folder / MODEL).exists():
        return
    print(f"\n=== {cell.task}, {cell.mode}, seed {cell.seed}", file=sys.stderr, flush=True)
    if any((folder / "checkpoints").glob("step-*")):
        resume(folder)
        return
    shutil.rmtree(folder, ignore_errors=True)  # interrupted before its first checkpoint
    setup = SETUPS[cell.task]
    mode = setup.modes[cell.mode]
    task = load_task(setup.name, {**DATA, **setup.task, **mode.task})
    model = starting_model(setup.model, out / "models")
    train(task, run_dir=folder, model=model, seed=cell.seed, **COMMON, **setup.settings, **mode.settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs, the models and the figure")
    parser.add_argument("--only", help="TASK or TASK/MODE")
    parser.add_argument("--seeds", type=int, default=10, help="seeds per mode")
    parser.add_argument("--show", action="store_true", help="show finished runs; run nothing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not options.show:
        for cell in cells(options.only, options.seeds):
            run(cell, options.out)
    figures.show(options.out, {name: list(setup.modes) for name, setup in SETUPS.items()})


if __name__ == "__main__":
    main()
