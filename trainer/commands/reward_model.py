"""``grpo_env reward-model train``: a reward model from labelled completions, in a folder that the verifiers load."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.console import Console

from grpo_env.core import Group
from grpo_env.errors import UsageError, no_such_file
from grpo_env.plural import counted
from grpo_env.progress import progress
from grpo_env.results.rows import read_scores
from grpo_env.rows.writer import writing
from grpo_env.taskfile.task import Task, make_verifier

from ..background_scorer import scores_of
from ..config import TrainConfig
from ..engine.bundled import MODELS
from ..reward_models.figures import Figures, Mean, held_out_figures
from ..reward_models.fit import RATE, FitSettings, fit, save
from ..reward_models.labels import Labelled, labelled_completions, split_by_prompt
from ..run.folder import RunFiles, new_folder

if TYPE_CHECKING:
    from grpo_env.verifiers.models import ModelVerifier
    from grpo_env.verifiers.pretrained import Pretrained

FIGURES = "held_out.json"
"""The file of the new folder with what was trained on and how well it predicts."""
BUNDLED_RATE = 5e-4
"""The learning rate of the bundled models, of under a million weights."""


@dataclass(frozen=True)
class Request:
    """What to train: a model of the steps if ``process``, split by ``segments``, else of whole completions.

    ``part`` has the labels; ``hard`` makes them 0 and 1; ``held_out`` is the fraction of prompts for the figures.
    ``model`` is what to start from: ``bundled``, a folder or a hub id; default: the task's own.
    """

    process: bool = False
    part: str | None = None
    segments: str = "line"
    hard: bool = False
    held_out: float = 0.2
    model: str | None = None

    def verifier(self, task: Task, model: str) -> ModelVerifier:
        """The verifier that reads the model, with this task's format. Raises ``UsageError``."""
        name = "process_reward_model" if self.process else "reward_model"
        return cast("ModelVerifier", make_verifier(name, {**self.options, "model": model}, name, task.format))

    @property
    def options(self) -> dict[str, str]:
        """The verifier's options besides the model."""
        if not self.process:
            return {"activation": "sigmoid"}
        return {"segments": self.segments}

    def yaml(self, model: Path) -> str:
        """The verifier as a task file writes it."""
        name, extra = ("process_reward_model", ", weight: 0.0, process: 1.0") if self.process else ("reward_model", "")
        options = "".join(f", {key}: {json.dumps(value)}" for key, value in self.options.items())
        return f"{{use: {name}, model: {model}{options}{extra}}}"


def train_reward_model(
    task: Task,
    file: Path,
    out: Path,
    request: Request | None = None,
    settings: FitSettings | None = None,
    *,
    console: Console,
) -> Figures:
    """Train a reward model on a score file, and write it to ``out`` with its figures on held-out prompts.

    Args:
        task: the task that the rows are of, for its format.
        file: a file that ``score`` or ``label-steps`` wrote, or the folder of a run, for its samples.
        out: a new folder.
        request: what to train.
        settings: how to train it; default learning rate: 5e-4 for a bundled model, 1e-5 for others.
        console: gets messages and the progress.

    Raises:
        UsageError: a folder that exists, an unusable model, file or label; before any training.
        RunError: the folder cannot be written.
    """
    request = request or Request()
    if out.exists():
        raise UsageError(f"{out}: already exists; give another folder with --out")
    name = request.model or TrainConfig.from_mapping({}, "reward-model", defaults=task.defaults).model
    settings = settings or FitSettings()
    if settings.learning_rate is None:
        settings = replace(settings, learning_rate=BUNDLED_RATE if name in MODELS else RATE)
    verifier, files = request.verifier(task, str(MODELS.get(name, name))), _score_files(file)
    loaded = verifier.trainable(settings.seed)
    labelled, left_out = _read(verifier, loaded, files, task, request)
    train, held_out = _split(labelled, file, request.held_out, settings.seed)
    for line in _start_lines(loaded, name, left_out, train, held_out, settings):
        console.print(line, soft_wrap=True)
    with new_folder(out, writing) as draft:
        with progress("reward-model", settings.epochs * len(train), console) as advance:
            training_loss = fit(loaded, train, settings, advance)
        save(loaded, draft)
        del loaded
        groups = [Group(row.example, [row.completion]) for row in held_out]
        scores = [score for (score,) in scores_of(request.verifier(task, str(draft)), groups)]
        labels = [value for row in train for value in row.known]
        mostly_good = 2 * sum(value >= 0.5 for value in labels) >= len(labels)
        figures = held_out_figures(held_out, scores, mostly_good)
        record = {
            "task": task.name,
            "file": str(file),
            "model": name,
            "request": asdict(request),
            "settings": asdict(settings),
            "rows": {"train": len(train), "held_out": len(held_out), "left_out": dict(left_out)},
            "training_loss": training_loss,
            "held_out": asdict(figures),
        }
        (draft / FIGURES).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return figures


def _read(
    verifier: ModelVerifier, loaded: Pretrained, files: Sequence[Path], task: Task, request: Request
) -> tuple[list[Labelled], Counter[str]]:
    """The labelled completions of files, and why others were left out. Raises ``UsageError`` if there are none."""
    rows = chain.from_iterable(map(read_scores, files))
    labelled, left_out = labelled_completions(rows, task, request.part, verifier, loaded, hard=request.hard)
    if not labelled:
        raise UsageError(f"{files[0]}: {f'no labelled completion: {_counts(left_out)}' if left_out else 'no rows'}")
    return labelled, left_out


def _score_files(path: Path) -> list[Path]:
    """A score file, or those of the steps of a run folder. Raises ``UsageError`` if there is none."""
    if path.is_file():
        return [path]
    if not path.exists():
        raise no_such_file(path)
    found = list(RunFiles(path).sample_files().values())
    if not found:
        raise UsageError(f"{path}: a folder without samples/step-*.parquet; give a score file or the folder of a run")
    return found


def _split(
    labelled: Sequence[Labelled], file: Path, fraction: float, seed: int
) -> tuple[list[Labelled], list[Labelled]]:
    """Rows to train on and held-out ones. Raises ``UsageError`` if one side has nothing to tell apart."""
    if len({row.prompt for row in labelled}) < 2:
        raise UsageError(f"{file}: all completions have the same prompt; held-out figures need at least two")
    train, held_out = split_by_prompt(labelled, fraction, seed)
    labels = [value for row in train for value in row.known]
    if len({value >= 0.5 for value in labels}) < 2:
        side = "0.5 or more" if labels[0] >= 0.5 else "below 0.5"
        raise UsageError(f"{file}: all labels to train on ({len(labels):,}) are {side}: there is nothing to tell apart")
    return train, held_out


def figure_lines(figures: Figures) -> Iterator[str]:
    """The figures for a terminal, line by line."""
    accuracy, pairs = figures.accuracy, figures.pairs
    always = f"always the same answer: {figures.majority:.3f}"
    yield f"accuracy     {_mean(accuracy)} of {counted(accuracy.compared, 'label')}; {always}"
    if pairs is None:
        yield "pairs        no held-out prompt has a correct and a wrong completion"
    else:
        of = f"{counted(pairs.compared, 'pair')} of a correct and a wrong completion"
        yield f"pairs        {_mean(pairs)} of {of} in order"
    if figures.unscored:
        yield f"unscored     {counted(figures.unscored, 'held-out completion')}"


def _mean(mean: Mean) -> str:
    by = counted(mean.prompts, "prompt")
    if mean.interval is None:
        return f"{mean.value:.3f} (too few held-out prompts for an interval: label more, or raise --held-out) by {by},"
    low, high = mean.interval
    return f"{mean.value:.3f} [{low:.3f}, {high:.3f}] by {by},"


def _counts(left_out: Counter[str]) -> str:
    return ", ".join(f"{count:,} {why}" for why, count in left_out.most_common())


def _start_lines(
    loaded: Pretrained,
    name: str,
    left_out: Counter[str],
    train: Sequence[Labelled],
    held_out: Sequence[Labelled],
    settings: FitSettings,
) -> Iterator[str]:
    """What is trained on what, and how."""
    prompts = len({row.prompt for row in train}), len({row.prompt for row in held_out})
    labels = [value for row in (*train, *held_out) for value in row.labels]
    unlabelled = f", {counted(labels.count(None), 'step')} without a label" if None in labels else ""
    completions = counted(len(train) + len(held_out), "completion")
    epochs = f"{counted(settings.epochs, 'epoch')} of {counted(len(train), 'completion')}"
    yield (
        f"data       {counted(len(labels) - labels.count(None), 'label')} of {completions}{unlabelled}; "
        f"{counted(prompts[0], 'prompt')} to train on, {prompts[1]:,} held out"
    )
    if left_out:
        yield f"left out   {_counts(left_out)}"
    yield f"model      {name}: {loaded.model.num_parameters():,} parameters, fp32 on {loaded.device}"
    yield f"training   {epochs}, {settings.batch_size} an update, learning rate {settings.learning_rate:g}"
