"""What a run writes: metrics, samples, checkpoints and the best model into its folder, to the console, to a tracker."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from accelerate.utils import broadcast_object_list
from torch import Tensor

from ..advantages import phantom_gradient
from ..config import flatten
from ..optimizer import learning_rate
from ..shared_types import ScoredRollout
from .alerts import warnings
from .checkpoint import RunFolder
from .evaluation import summarize
from .folder import BEST, VERSIONS, is_first_process
from .learned_reward import training_figures
from .run import Run
from .samples import SampleFiles
from .trackers import start_tracker, track


class Recorder:
    """Writes what a run does, from step ``start`` on. ``evaluations`` are the rows of its evaluations until now."""

    def __init__(self, run: Run, folder: RunFolder, start: int) -> None:
        """Go on with a run in its folder, after ``start`` steps."""
        config, rows = run.config, folder.metrics()
        self.run, self.folder, self.start = run, folder, start
        self._best = max(folder.numbered(f"{BEST}-"), default=None)  # the step of the model that is kept
        self.evaluations = [row for row in rows if row["kind"] == "eval"]
        self._train_rows = [row for row in rows if row["kind"] == "train"]
        self._began = time.monotonic() - (rows[-1]["seconds"] if rows else 0.0)
        self._samples = SampleFiles(folder, run.mixture.tasks, config.group_size, run.policy.decode)
        tracker = config.tracker if folder.writes else None
        self.tracker = start_tracker(tracker, folder, flatten(config.model_dump()), start)
        run.console.restore(rows)

    @classmethod
    def create(cls, run: Run, path: Path | None) -> Recorder:
        """Make the folder of a new run, in the first process, and tell the other processes its path."""
        code = {task.name: task.code for task in run.tasks}
        versions = {**run.engine.versions, "data": run.fingerprints, "code": code}
        made = RunFolder.create(path, run.mixture, run.config, versions).path if is_first_process() else None
        return cls(run, RunFolder(broadcast_object_list([made])[0]), 0)

    @classmethod
    def reopen(cls, run: Run, folder: RunFolder) -> Recorder:
        """Restore a run from its newest intact checkpoint."""
        start, messages = folder.load(run)
        folder.drop_from(start)
        run.policy.accelerator.wait_for_everyone()  # the others list the samples, which the main process has dropped
        for message in [*messages, *changed(folder, run)]:
            run.console.print(message, "red")
        return cls(run, folder, start)

    def write(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Log a row with the seconds since the run began and, after a training row, the alerts that it raises."""
        written = self.folder.record({**row, "seconds": time.monotonic() - self._began})
        self.run.console.show(written)
        track(self.tracker, written)
        if written["kind"] == "train":
            self._train_rows.append(written)
            for warning in warnings(self._train_rows):
                self.write(warning)
        elif written["kind"] == "eval":
            self.evaluations.append(written)
        return written

    def step(
        self,
        step: int,
        sampled: Sequence[ScoredRollout],
        advantages: Tensor,
        stats: Mapping[str, float],
        further: Mapping[str, float],
    ) -> None:
        """Record the metrics of a step and its completions.

        Means are over everything that was sampled: the groups that dynamic sampling selects for the updates are half
        correct by selection. ``advantages`` are those of the selected groups, which come first in ``sampled``.
        ``further`` metrics have ``sample_seconds`` and ``update_seconds``.
        """
        config = self.run.config
        tokens = sum(rollout.rollout.num_sampled for rollout in sampled)
        row = {
            "kind": "train",
            "step": step,
            **summarize(sampled),
            "groups_sampled": len(sampled) // config.group_size,
            "uniform_groups": float((advantages == 0).view(config.prompts_per_step, -1).all(1).double().mean()),
            "phantom_gradient": phantom_gradient(sampled[: len(advantages)], advantages, config.group_size),
            **stats,
            "learning_rate": learning_rate(config.optimizer, step, config.steps),
            "tokens": tokens,
            "tokens_per_second": tokens / (further["sample_seconds"] + further["update_seconds"]),
            **further,
        }
        if self.run.learned is not None:
            row |= training_figures(self.folder, step)
        self.write(row)
        if self.folder.writes:
            self._samples.write(step, sampled, advantages)

    def save_if_due(self, step: int) -> None:
        """Checkpoint every ``checkpoint.every`` steps."""
        every = self.run.config.checkpoint.every
        if every and step and step % every == 0:
            self.folder.save(self.run, step)

    def save_if_best(self, step: int) -> None:
        """Under ``checkpoint.best``, keep the model of the last evaluation if its accuracy is above that of the kept
        one, or none is kept; that of step 0 never is.
        """
        last = self.evaluations[-1]
        rivals = [row for row in self.evaluations[:-1] if row["step"] == self._best]
        if not self.run.config.checkpoint.best or not step or best([*rivals, last]) is not last:
            return
        self.folder.save_model(self.run.policy, f"{BEST}-{step:06d}")
        for number, old in self.folder.numbered(f"{BEST}-").items() if self.folder.writes else ():
            if number != step:
                shutil.rmtree(old)
        self._best = step


def best(evaluations: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first of the evaluations with the highest accuracy; ``None`` if nothing could be scored."""
    known = [row for row in evaluations if row["accuracy"] is not None]
    return max(known, key=lambda row: row["accuracy"], default=None)  # the first of equal ones


def changed(folder: RunFolder, run: Run) -> Iterator[str]:
    """A line for each split of rows and each verifier's code that is another than at the beginning of a resumed run."""
    recorded = json.loads((folder.path / VERSIONS).read_text("utf-8"))
    others = "when the run began, so its numbers will not be those of a run without an interruption"
    for name, by_split in run.fingerprints.items():
        for split, found in by_split.items():
            if recorded.get("data", {}).get(name, {}).get(split, found) != found:
                yield f"data       the {split} rows of {name} are others than {others}"
    for task in run.tasks:
        for name, found in task.code.items():
            if recorded.get("code", {}).get(task.name, {}).get(name, found) != found:
                yield f"code       the file of {name}, a verifier of {task.name}, is another than {others}"
