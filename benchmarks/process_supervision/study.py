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
import json
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
import costs
import figures
from bases import LONG, starting_model
from labels import COST, reward_model

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Mode:
    """What is rewarded: overrides of the arithmetic task, and settings of the run."""

    settings: Settings
    task: Settings = field(default_factory=dict)
    reward_model: Settings | None = None  # options of the part ``prm``, if there is one


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
ANY = {"verifiers.equations": {"use": "equation_steps", "weight": 0.0, "process": 1.0}}
NO_OUTCOME = {"verifiers.accuracy.process": 0.0, "verifiers.strict_format.process": 0.0}
PROCESS = {"supervision": "process"}
PADDING = {
    "any": Mode(PROCESS, {**ANY, **NO_OUTCOME}),
    "any, mean": Mode({**PROCESS, "advantage.step_credit": "mean"}, {**ANY, **NO_OUTCOME}),
    "any, return": Mode({**PROCESS, "advantage.step_credit": "return"}, {**ANY, **NO_OUTCOME}),
    "expected": Mode(PROCESS, NO_OUTCOME),
    "expected, return": Mode({**PROCESS, "advantage.step_credit": "return"}, NO_OUTCOME),
}

# Steps that no rule scores: their values are estimated by rollouts, in the run or once, for a process reward model.
# ``prm`` is trained on the verdicts of whole completions.
LONGER = 3  # times the steps of the other runs
VALUES = {"supervision": "process", "step_values.rollouts": 4}
BY_MODEL = {"supervision": "process"}
RETRAINED = {
    **BY_MODEL,
    "reward_model.rule": "verdict",
    "reward_model.every": 5,
    "reward_model.peak_learning_rate": 5e-4,
}
NO_RULE = {"verifiers.equations.process": 0.0, "verifiers.verdict": {"use": "own_verdict", "weight": 0.0}}
PRM = {"use": "process_reward_model", "segments": "line", "weight": 0.0, "process": 1.0}
# Nothing but the reward model is rewarded, so that the run can only learn what it pays.
ALONE = {
    **NO_RULE,
    "verifiers.accuracy": {"weight": 0.0},
    "verifiers.strict_format": {"weight": 0.0, "newlines": "required"},
}
UNLABELLED = {
    **SUPERVISION,
    "outcome, longer": Mode(
        {"supervision": "outcome", "steps": LONGER * 30}, {"dataset.limit": {"train": LONGER * 240, "eval": 100}}
    ),
    "rollout values": Mode(VALUES, NO_RULE),
    "PRM, frozen": Mode(BY_MODEL, NO_RULE, PRM),
    "PRM, retrained": Mode(RETRAINED, NO_RULE, PRM),
    "PRM alone, frozen": Mode(BY_MODEL, ALONE, PRM),
    "PRM alone, retrained": Mode(RETRAINED, ALONE, PRM),
    "PRM alone, no replay": Mode({**RETRAINED, "reward_model.replay": 0.0}, ALONE, PRM),
}

LONG_TASK = {**MONITORED, "dataset.arguments": {"steps": list(LONG), "operands": [2, 20]}}
SETUPS = {
    "short": Setup("bundled", {**SUPERVISION, **RETURNS}, {"sampling.max_new_tokens": 64}, MONITORED),
    "long": Setup(
        "long",
        {**SUPERVISION, "both, mean": credited("both", "mean"), **RETURNS},
        {"sampling.max_new_tokens": 128},
        LONG_TASK,
    ),
    "padding": Setup("padding", PADDING, {"sampling.max_new_tokens": 64}, MONITORED),
    "unlabelled": Setup("long", UNLABELLED, {"sampling.max_new_tokens": 128}, LONG_TASK),
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
    model = starting_model(setup.model, out / "models")
    learned = None if mode.reward_model is None else starting_reward_model(setup, model, out / "models")
    settings = {**COMMON, **setup.settings, **mode.settings}
    train(load_task(setup.name, overrides(cell, learned)), run_dir=folder, model=model, seed=cell.seed, **settings)


def starting_reward_model(setup: Setup, model: str, folder: Path) -> Path:
    """The process reward model of a setup, from rollouts of its starting model on its training problems."""
    task = load_task(setup.name, {**DATA, **setup.task})
    out = reward_model_folder(setup, folder)
    return reward_model(task, model, out, setup.settings["sampling.max_new_tokens"])


def reward_model_folder(setup: Setup, folder: Path) -> Path:
    return folder / f"{setup.model}-prm"


def overrides(cell: Cell, learned: Path | None = None) -> Settings:
    """The keys of a run's task; ``learned`` is the folder of its reward model, if it has one."""
    setup = SETUPS[cell.task]
    mode = setup.modes[cell.mode]
    keys = {**DATA, **setup.task, **mode.task}
    return (
        keys if mode.reward_model is None else {**keys, "verifiers.prm": {**mode.reward_model, "model": str(learned)}}
    )


def show(out: Path, seeds: int) -> None:
    """Print the tables of all finished runs in ``out`` with the first ``seeds`` seeds, and draw ``out/study.png``."""
    loaded = {
        task: {mode: figures.load(out / "runs" / task / mode, seeds) for mode in setup.modes}
        for task, setup in SETUPS.items()
    }
    finished = {task: {mode: runs for mode, runs in modes.items() if runs} for task, modes in loaded.items()}
    finished = {task: modes for task, modes in finished.items() if modes}
    for task, modes in finished.items():
        print("\n".join(table(task, modes, out)), end="\n\n")
    if drawn := {task: modes for task, modes in finished.items() if task != "unlabelled"}:
        figures.draw(drawn, out / "study.png")


def table(task: str, modes: Mapping[str, figures.Runs], out: Path) -> list[str]:
    """The lines of a task's table."""
    if task == "padding":
        return figures.padding_table(modes)
    if task == "unlabelled":
        file = reward_model_folder(SETUPS[task], out / "models") / COST  # made before the first run that needs it
        cost = costs.Cost(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else costs.Cost(0, 0)
        return costs.cost_tables(modes, cost)
    return figures.learning_table(task, modes)


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
    show(options.out, options.seeds)


if __name__ == "__main__":
    main()
