"""A run: everything that its loop works on. ``recording`` writes and shows its progress, ``stopping`` ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast_object_list
from torch import Tensor

from grpo_env import scoring_process
from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.gold_kinds import gold_warning
from grpo_env.taskfile.mixture import Mixture
from grpo_env.taskfile.prompt import unused_template_kwargs
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from ..batch import Batch
from ..config import TrainConfig
from ..custom import try_functions
from ..engine.micro_batch_size import default_tokens
from ..engine.policy import Policy
from ..engine.sampling.protocol import RolloutEngine
from ..episodes.conversation import check_conversation
from ..prompts import PromptSampler, task_examples
from ..reward_models.learned import LearnedPart, learned_part
from .checkpoint import RunFolder
from .console import RunConsole
from .metrics import MetricsLogger
from .prompt_lengths import fitting_examples
from .samples import SampleFiles
from .setup import load_policy_and_optimizer
from .task_checks import check_tags, check_task, end_warning, prefill_warning, weighted_parts
from .trackers import check_tracker
from .weight_check import check_weights, root_mean_square


@dataclass(frozen=True)
class Result:
    """The result of a run: its folder, and the metrics of the first and the last evaluation."""

    run_dir: Path
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass
class Run:
    """Tasks and settings with the policy, optimizer and examples that they name.

    ``reference`` holds the weights of the reference model, ``None`` without a KL penalty; ``samplers`` and ``held_out``
    have one entry for each task. ``initial_rms`` is the root mean square of the trained weights before training, and
    ``micro_batch_tokens`` the setting or its default, or less after memory ran out. ``mid_update`` is True from the
    first change of the weights in a step to the end of its updates. ``earlier_steps`` is the number of steps that the
    run had before it was given more, and ``first_verdicts`` the verdicts on held-out examples, by task and id, before
    training. ``learned`` is the part of the reward that ``reward_model`` watches, with the model it has now.
    """

    mixture: Mixture
    config: TrainConfig
    policy: Policy
    reference: dict[str, Tensor] | None
    optimizer: torch.optim.Optimizer
    samplers: Sequence[PromptSampler]
    held_out: Sequence[Sequence[Example]]
    console: RunConsole
    folder: RunFolder = field(init=False)
    metrics: MetricsLogger = field(init=False)
    samples: SampleFiles = field(init=False)
    initial_rms: float = field(init=False)
    micro_batch_tokens: int = field(init=False)
    mid_update: bool = field(init=False, default=False)
    earlier_steps: int | None = field(init=False, default=None)
    first_verdicts: dict[tuple[str, str], float | None] = field(init=False, default_factory=dict)
    learned: LearnedPart | None = None

    def __post_init__(self) -> None:
        self.initial_rms = root_mean_square(self.policy)
        # On purpose while vLLM in this process holds its memory: torch keeps what an update took, and vLLM must wake up
        # beside that.
        self.micro_batch_tokens = default_tokens(self.policy, self.config)
        self.optimizer.register_step_pre_hook(self._begin_update)
        self.engine.report = self.console.report

    def _begin_update(self, *_: Any) -> None:
        self.mid_update = True

    @classmethod
    def load(cls, mixture: Mixture, config: TrainConfig) -> Run:
        """Load everything and write nothing. Raises ``UsageError``."""
        check_tracker(config.tracker)
        if config.advantage.error_correction and len(mixture.tasks) > 1:
            raise UsageError("advantage.error_correction: its rates are those of one metric; train on one task")
        if config.reward_model.is_used and len(mixture.tasks) > 1:
            raise UsageError("reward_model: one part of the reward is compared with a rule; train on one task")
        try_functions(config, [name for task in mixture.tasks for name in weighted_parts(task)])
        scoring_process.start()
        policy, optimizer = load_policy_and_optimizer(config)
        assert policy.rollout_engine is not None
        if config.reward_model.every and policy.accelerator.num_processes > 1:
            raise UsageError("reward_model.every: reward models are trained in one process; leave it out here")
        with ExitStack() as on_error:
            on_error.callback(policy.rollout_engine.close)
            for task in mixture.tasks:
                check_task(task, config)
                check_tags(policy, task)
                check_conversation(policy, task)
            console = RunConsole(config.steps, process=policy.accelerator.process_index)
            report = partial(console.print, style="yellow")
            run = cls(
                mixture,
                config,
                policy,
                policy.snapshot() if config.kl.coef > 0 else None,
                optimizer,
                [PromptSampler(task, weight, config, report) for task, weight in mixture.members],
                [task_examples(task, "eval", config.eval.examples, report) for task in mixture.tasks],
                console,
                learned=None if len(mixture.tasks) > 1 else learned_part(mixture.tasks[0], config.reward_model),
            )
            run._warn_about_templates()
            run._drop_overlong_prompts()
            on_error.pop_all()
        return run

    def _warn_about_templates(self) -> None:
        """Print a line for each task whose variables the model's chat template does not use, or whose format does not
        know what the template writes; and one if completions do not end where the template ends them.
        """
        for sampler in self.samplers:
            if line := prefill_warning(self.policy, sampler.task, sampler.examples[0]):
                self.console.print(line, "yellow")
        lines = [end_warning(self.policy, sampler.examples[0]) for sampler in self.samplers]
        for line in dict.fromkeys(filter(None, lines)):
            self.console.print(line, "yellow")
        for task in self.mixture.tasks:
            names = unused_template_kwargs(self.policy.tokenizer, task.spec.prompt.chat_template_kwargs)
            if names:
                self.console.print(
                    f"{task.name}: prompt.chat_template_kwargs has no effect: the chat template of {self.policy.name} "
                    f"does not use {', '.join(names)}",
                    "yellow",
                )

    def _drop_overlong_prompts(self) -> None:
        """Measure all prompts; leave out those that are too long, or raise ``UsageError``."""

        def fitting(task: Task, split: Split, examples: Sequence[Example]) -> list[Example]:
            remaining, message = fitting_examples(self.policy, task, split, examples, self.config.sampling)
            if message is not None:
                self.console.print(message, "yellow")
            return remaining

        for sampler in self.samplers:
            sampler.examples = fitting(sampler.task, "train", sampler.examples)
        tasks = zip(self.mixture.tasks, self.held_out, strict=True)
        self.held_out = [fitting(task, "eval", examples) for task, examples in tasks]

    def warn_about_golds(self) -> None:
        """Print a line for each task with gold answers that look out of place."""
        for sampler in self.samplers:
            if line := gold_warning(sampler.task, sampler.examples):
                self.console.print(f"{sampler.task.name}: {line}", "yellow")

    def create_folder(self, path: Path | None) -> None:
        """Create the run folder, in the first process, and tell the other processes its path."""
        is_main = bool(self.policy.accelerator.is_main_process)
        paths = [RunFolder.create(path, self.mixture, self.config, self.engine.versions).path if is_main else None]
        self.folder = RunFolder(broadcast_object_list(paths)[0], is_main)

    def reopen_folder(self, folder: RunFolder) -> int:
        """Restore an existing run from its newest intact checkpoint; returns the step to continue with."""
        self.folder = RunFolder(folder.path, bool(self.policy.accelerator.is_main_process))
        start, messages = self.folder.load(self.policy, self.optimizer, self.updated_reference, self.samplers)
        self.folder.drop_from(start)
        self.policy.accelerator.wait_for_everyone()  # the others list the samples, which the main process has dropped
        for message in messages:
            self.console.print(message, "red")
        return start

    @property
    def engine(self) -> RolloutEngine:
        """What samples."""
        assert self.policy.rollout_engine is not None
        return self.policy.rollout_engine

    @property
    def updated_reference(self) -> dict[str, Tensor] | None:
        """The reference if ``kl.reference_sync_every`` updates it, so that it belongs in checkpoints."""
        return self.reference if self.config.kl.reference_sync_every else None

    def sync_reference_if_due(self, updates: int) -> None:
        """Iterative GRPO (DeepSeekMath, algorithm 1, line 3): the current model becomes the reference."""
        if self.config.kl.reference_sync_every and updates % self.config.kl.reference_sync_every == 0:
            self.reference = self.policy.snapshot()

    def keep_micro_batch_size(self, batches: Sequence[Batch]) -> None:
        """After running out of memory, continue with the size of micro-batches that fit."""
        if reduced := [batch.reduced_tokens for batch in batches if batch.reduced_tokens]:
            self.micro_batch_tokens = min(reduced)
            self.console.report(
                f"out of memory: micro-batches are halved; engine.micro_batch_tokens is now {self.micro_batch_tokens}"
            )

    def save_if_due(self, step: int) -> None:
        """Checkpoint every ``checkpoint.every`` steps."""
        if self.config.checkpoint.every and step and step % self.config.checkpoint.every == 0:
            self.save(step)

    def save(self, step: int) -> None:
        """Checkpoint the state after ``step`` updates. Raises ``DivergedError`` if its weights are destroyed."""
        check_weights(self.policy, self.initial_rms)
        keep = self.config.checkpoint.keep
        self.folder.save(self.policy, self.optimizer, self.updated_reference, step, keep, self.samplers)
