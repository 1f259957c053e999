"""Trackers: accelerate sends the numbers of ``metrics.jsonl`` to TensorBoard, Weights & Biases or trackio too."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from accelerate.tracking import LOGGER_TYPE_TO_CLASS

from grpo_env.errors import RunError

from ..shared_types import ScoredRollout
from .folder import RunFiles

SHOWN = 32  # completions in the table of an evaluation
TABLES = ("wandb", "trackio")


def start_tracker(name: str | None, run: RunFiles, settings: Mapping[str, Any], start: int) -> Any | None:
    """accelerate's tracker of that name for a run, which continues after ``start`` steps.

    TensorBoard and Weights & Biases write into the run folder; the latter stays offline unless ``WANDB_MODE`` says
    otherwise. For it and trackio the project is ``grpo_env`` and the run has the folder's name. Raises ``RunError``.
    """
    if name is None:
        return None
    folder = run.path
    options: dict[str, dict[str, Any]] = {
        "tensorboard": {"run_name": "tensorboard", "logging_dir": folder, "purge_step": start},
        "wandb": {
            "run_name": "grpo_env",
            "name": folder.name,
            "dir": folder,
            "mode": os.environ.get("WANDB_MODE", "offline"),
            "settings": {"silent": True, "console": "off"},
        },
        "trackio": {"run_name": "grpo_env", "name": folder.name, "resume": "allow" if start else "never"},
    }
    try:
        with redirect_stdout(sys.stderr):
            tracker = LOGGER_TYPE_TO_CLASS[name](**options[name])
            tracker.start()
            tracker.store_init_configuration(dict(settings))
    except Exception as error:  # trackers fail in many ways
        raise RunError(f"tracker={name} failed to start: {error}") from error
    return tracker


def finish_tracker(tracker: Any | None) -> None:
    """Let the tracker write what it has buffered."""
    if tracker is not None:
        with redirect_stdout(sys.stderr):
            tracker.finish()


def track(tracker: Any | None, row: Mapping[str, Any]) -> None:
    """Send the numbers of a row of metrics, as ``train/reward`` and ``eval/accuracy``."""
    numbers = {name: value for name, value in row.items() if isinstance(value, int | float) and name != "step"}
    if tracker is not None and numbers and row["kind"] != "warning":
        tracker.log({f"{row['kind']}/{name}": value for name, value in numbers.items()}, step=row["step"])


def track_completions(tracker: Any | None, step: int, rollouts: Sequence[ScoredRollout]) -> None:
    """Send the first completions with their scores, as the table ``eval/completions``, to a tracker that has tables."""
    if tracker is None or tracker.name not in TABLES:
        return
    columns = ["step", "example", "gold", "completion", "reward", "correct", "why"]
    rows = [
        [step, row.example.id, row.example.answer, row.rollout.text, row.score.value, row.correct, str(row.score)]
        for row in rollouts[:SHOWN]
    ]
    table = import_module(tracker.name).Table(columns=columns, data=rows)
    tracker.log({"eval/completions": table}, step=step)
