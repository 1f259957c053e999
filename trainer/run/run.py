"""One run: what it has loaded, and what it does around the loop (evaluate, record, save, stop)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast_object_list
from torch import Tensor

from grpo_env.core import Example
from grpo_env.errors import DivergedError, InterruptedRunError, RunError, UsageError
from grpo_env.taskfile.mixture import Mixture

from ..batch import Batch
from ..config import TrainConfig, flatten
from ..engine.forward import with_fast_paths
from ..engine.layers import is_supported
from ..engine.lora import prepare_adapter
from ..engine.policy import Policy, count_weights, load_policy
from ..engine.sharding.deepspeed import with_deepspeed
from ..engine.sharding.fsdp import with_fsdp
from ..engine.sharding.weights import is_sharded
from ..engine.stepwise_decoding import with_cuda_graphs
from ..evaluate import accuracy_interval, summarise
from ..prompts import PromptSampler, check_task
from ..rollout import ScoredRollout, evaluate
from ..update import UpdateStats, cast_to_bf16, learning_rate, make_optimizer
from .checkpoint import RunFolder
from .console import Report
from .curves import plot_curves
from .folder import CURVES, MODEL, SAMPLES, uninterrupted
from .metrics import MetricsLogger
from .trackers import check_tracker, start_tracker

SHOWN = 3  # completions shown before and after


@dataclass(frozen=True)
class Result:
    """What came of a run: its folder, and the held-out metrics before and after."""

    run_dir: Path
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass
class Run:
    """Tasks and a config with the model, optimizer and examples that they name.

    ``reference`` holds the weights of the reference model, ``None`` where there is no KL penalty.
    """

    mixture: Mixture
    config: TrainConfig
    policy: Policy
    reference: dict[str, Tensor] | None
    optimizer: torch.optim.Optimizer
    pools: Sequence[PromptSampler]
    held_out: Sequence[Sequence[Example]]
    report: Report
    folder: RunFolder = field(init=False)
    journal: MetricsLogger = field(init=False)

    @classmethod
    def load(cls, mixture: Mixture, config: TrainConfig) -> Run:
        """Load everything; nothing is written yet. Raises ``UsageError``."""
        check_tracker(config.tracker)
        policy = load_policy(
            config.model,
            device=config.engine.device,
            precision=config.engine.precision,
            gradient_checkpointing=config.engine.gradient_checkpointing,
        )
        policy = with_cuda_graphs(with_fast_paths(policy, share_prompts=config.engine.share_prompts))
        prepare_adapter(policy, config)
        if config.optimizer.name == "adamw_bf16":
            cast_to_bf16(policy)
        policy = replace(with_fsdp(policy, config), rollout_engine=config.sampling.engine)
        processes = policy.accelerator.num_processes
        if config.prompts_per_step % processes:
            raise UsageError(f"prompts_per_step={config.prompts_per_step} cannot be shared by {processes} processes")
        for task in mixture.tasks:
            check_task(task, config)
        optimizer = make_optimizer(policy, config)
        policy = with_deepspeed(policy, optimizer, config)
        return cls(
            mixture,
            config,
            policy,
            policy.snapshot() if config.kl.coef > 0 else None,
            optimizer,
            [PromptSampler(task, weight, config) for task, weight in mixture.members],
            [task.examples("eval", config.eval.examples) for task in mixture.tasks],
            Report(config.steps, silent=not policy.accelerator.is_main_process),
        )

    def create_folder(self, path: Path | None) -> None:
        """Start a new run folder; the first process makes it and tells the others where."""
        main = bool(self.policy.accelerator.is_main_process)
        made = [RunFolder.create(path, self.mixture, self.config).path if main else None]
        self.folder = RunFolder(broadcast_object_list(made)[0], main)

    def reopen_folder(self, folder: RunFolder) -> int:
        """Take up an existing run from its newest sound checkpoint; returns the step to go on with."""
        self.folder = RunFolder(folder.path, bool(self.policy.accelerator.is_main_process))
        start, corrupt = self.folder.load(self.policy, self.optimizer, self.moving_reference, self.pools)
        self.folder.forget_from(start)
        for message in corrupt:
            self.report.say(message, "red")
        return start

    def introduce(self, start: int) -> None:
        """Say what will run, on what, and where it goes."""
        config, policy, many = self.config, self.policy, self.policy.accelerator.num_processes
        rows = config.prompts_per_step * config.group_size
        where = f"{policy.device}" + f", {many} processes" * (many > 1) + " with a share each" * is_sharded(policy)
        tracker = start_tracker(config.tracker, self.folder.path, flatten(config.model_dump()), start)
        self.journal = MetricsLogger(self.folder, self.report, tracker)
        for pool in self.pools:
            share = f", weight {pool.weight:g}" if len(self.pools) > 1 else ""
            task = pool.task
            self.report.say(f"task       {task.name}: {len(pool.examples)} examples, metric {task.metric}{share}")
        trained, precision = count_weights(policy.trained.values()), "bf16" if policy.autocast else "fp32"
        sizes = f"{policy.parameters:,} parameters" + (f" ({trained:,} trained)" if trained < policy.parameters else "")
        self.report.say(f"model      {policy.name}: {sizes}, {precision} on {where}")
        self.report.say(
            f"algorithm  {config.preset or 'default'} settings, {config.supervision} supervision, "
            f"{config.steps} steps of {config.prompts_per_step} x {config.group_size} = {rows} completions"
        )
        if config.engine.share_prompts and not policy.shares_prompts:
            self.report.say("loss       each completion with its own copy of the prompt: this model cannot share it")
        if not is_supported(policy.model):
            self.report.say("layers     transformers' own: for this model there are no faster ones")
        elif policy.device.type == "cuda" and not policy.uses_cuda_graphs:
            self.report.say("sampling   without CUDA graphs: they do not give this model's logits here")
        self.report.say(f"run        {self.folder.path}" + (f", going on after step {start}" if start else ""))

    def evaluate_if_due(self, step: int) -> None:
        """Evaluate before, every ``eval.every`` steps, and after; show completions at both ends."""
        config, ends = self.config, step in (0, self.config.steps)
        if not ends and not (config.eval.every and step % config.eval.every == 0):
            return
        greedy = self._held_out(0, step)
        row: dict[str, Any] = {"kind": "eval", "step": step, **summarise(greedy)}
        if config.eval.samples:
            sampled = summarise(self._held_out(config.eval.samples, step))
            row |= {f"sampled_{name}": mean for name, mean in sampled.items()}
        row["accuracy_low"], row["accuracy_high"] = accuracy_interval(greedy)
        self.journal.write(row)
        if ends:
            each = [[one for one in greedy if one.task == task.name] for task in self.mixture.tasks]
            first = [one for found in each for one in found[: -(-SHOWN // len(each))]]
            shown = [(one.example, one.rollout.text, one.score) for one in first]
            self.report.completions(f"completions {'after' if step else 'before'} training", shown)

    def _held_out(self, samples: int, step: int) -> list[ScoredRollout]:
        sets = zip(self.mixture.tasks, self.held_out, strict=True)
        return [
            one
            for task, examples in sets
            for one in evaluate(self.policy, task, examples, self.config, samples=samples, step=step)
        ]

    def check(self, judged: Sequence[ScoredRollout], step: int) -> None:
        """Raises ``RunError``, with the first reason, when too much is unscored."""
        unscored = [one for one in judged if not one.score.scored]
        if len(unscored) > self.config.max_unscored_fraction * len(judged):
            first = unscored[0]
            raise RunError(
                f"step {step}: {len(unscored)} of {len(judged)} completions cannot be scored, more than "
                f"max_unscored_fraction={self.config.max_unscored_fraction:g}; first: example {first.example.id}: "
                f"{first.score.status}: {first.score.explanation}"
            )

    @property
    def moving_reference(self) -> dict[str, Tensor] | None:
        """The reference where ``kl.reference_sync_every`` moves it, so that it belongs to the state of the run."""
        return self.reference if self.config.kl.reference_sync_every else None

    def remember_memory(self, batch: Batch) -> None:
        """Keep to the size of micro-batches that fitted."""
        if batch.fits:
            engine = self.config.engine.model_copy(update={"micro_batch_tokens": batch.fits})
            self.config = self.config.model_copy(update={"engine": engine})
            self.report.say(f"out of memory: micro-batches are halved; micro_batch_tokens is now {batch.fits}", "red")

    def refresh_reference_if_due(self, done: int) -> None:
        """Iterative GRPO (DeepSeekMath, algorithm 1, line 3): the current model becomes the reference."""
        if self.config.kl.reference_sync_every and done % self.config.kl.reference_sync_every == 0:
            self.reference = self.policy.snapshot()

    def record(
        self,
        step: int,
        judged: Sequence[ScoredRollout],
        tried: Sequence[ScoredRollout],
        batch: Batch,
        stats: UpdateStats,
        times: tuple[float, float, float],
    ) -> None:
        """Write and show a step's metrics, and write the completions of its first group.

        Means are over all that was ``tried``, not over the groups that were chosen for the batch: those are half right
        by choice.
        """
        began, sampled, ended = times
        tokens = sum(len(one.rollout.ids) for one in tried)
        row = {
            "kind": "train",
            "step": step,
            **summarise(tried),
            "groups_sampled": len(tried) // self.config.group_size,
            "uniform_groups": batch.uniform_groups / (len(judged) // self.config.group_size),
            **asdict(stats),
            "learning_rate": learning_rate(self.config, step),
            "tokens": tokens,
            "tokens_per_second": tokens / (ended - began),
            "sample_seconds": sampled - began,
            "update_seconds": ended - sampled,
        }
        self.journal.write(row)
        for pool in self.pools:
            pool.learn(tried)
        self.folder.record_samples(step, judged[: self.config.group_size], batch.advantages)

    def save_if_due(self, step: int) -> None:
        """Checkpoint every ``checkpoint.every`` steps."""
        if self.config.checkpoint.every and step and step % self.config.checkpoint.every == 0:
            self.save(step)

    def save(self, step: int) -> None:
        """Checkpoint the state after ``step`` updates."""
        self.folder.save(
            self.policy, self.optimizer, self.moving_reference, step, self.config.checkpoint.keep, self.pools
        )

    def finish(self) -> Result:
        """Save model, last checkpoint and curves, and say what to do next."""
        self.report.close()
        self.save(self.config.steps)
        self._plot()
        self.folder.save_model(self.policy)
        ends = [row for row in self.folder.metrics() if row["kind"] == "eval"]
        path = self.folder.path
        self.report.say(f"saved      {path / MODEL}, {path / CURVES}, {path / SAMPLES}")
        self.report.say(f"next       grpo_env eval {self.mixture.tasks[0].command_line_name} --model {path / MODEL}")
        return Result(path, ends[0], ends[-1])

    def stopped(self, done: int, error: BaseException) -> RunError:
        """Save what there is after ``done`` updates; returns the error that tells how to go on."""
        path, kind = self.folder.path, InterruptedRunError if isinstance(error, KeyboardInterrupt) else RunError
        why = str(error) or "interrupted"
        again = f"grpo_env train --resume {path}"
        if isinstance(error, DivergedError) or is_sharded(self.policy):  # no process can gather shares by itself
            return kind(f"after {done} steps: {why}. From the last checkpoint, go on with: {again}")
        with uninterrupted():
            try:
                self.save(done)
            except RunError as unsaved:
                if str(unsaved) == str(error):
                    return unsaved
                return RunError(f"{why}; and the state could not be saved: {unsaved}")
            self._plot()
        if isinstance(error, KeyboardInterrupt):
            return InterruptedRunError(
                f"interrupted; {done} of {self.config.steps} steps are saved. Go on with: {again}"
            )
        return RunError(f"{error}. The state after {done} steps is saved: change {path / 'config.yaml'}, then {again}")

    def _plot(self) -> None:
        if self.folder.writes:
            plot_curves(
                self.folder.metrics(), self.folder.path / CURVES, f"{self.mixture.name} ({self.folder.path.name})"
            )
