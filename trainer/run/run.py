"""What a run has: its tasks and settings, and the policy, optimizer and examples that they name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.dataset import fingerprint
from grpo_env.taskfile.mixture import Mixture
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task
from grpo_env.workers import scoring_process

from ..batch import Batch
from ..config import TrainConfig
from ..engine.forward import with_fast_paths
from ..engine.lora import prepare_adapter
from ..engine.memory import default_tokens
from ..engine.policy import Policy, checkpoint_activations, is_adapter, load_policy
from ..engine.sampling.engines import make_engine
from ..engine.sampling.protocol import RolloutEngine
from ..engine.sharding import with_fsdp
from ..extensions.prompt_sampler import PromptSampler
from ..optimizer import make_optimizer
from ..reward_models.learned import LearnedPart, learned_part
from ..rollout import task_examples
from .console import RunConsole
from .task_checks import check_config, check_task, fitting_examples, template_warnings


@dataclass(frozen=True)
class Run:
    """What a run has from its first step to its last; what it writes is a ``Recorder``.

    ``samplers`` and ``held_out`` have one entry for each task. ``reference`` holds the weights of the reference model,
    ``None`` without a KL penalty. ``learned`` is the part of the reward that ``reward_model`` trains.
    ``micro_batch_tokens`` is the setting or its default.
    """

    mixture: Mixture
    config: TrainConfig
    policy: Policy
    optimizer: torch.optim.Optimizer
    samplers: Sequence[PromptSampler]
    held_out: Sequence[Sequence[Example]]
    reference: dict[str, Tensor] | None
    learned: LearnedPart | None
    micro_batch_tokens: int
    console: RunConsole

    @classmethod
    def load(cls, mixture: Mixture, config: TrainConfig) -> Run:
        """Load everything and write nothing. Raises ``UsageError``."""
        check_config(mixture, config)
        scoring_process.start()
        engine = make_engine(config)
        with ExitStack() as on_error:
            on_error.callback(engine.close)
            policy = replace(load_trained_policy(config), rollout_engine=engine)
            optimizer = make_optimizer(policy, config.optimizer)
            engine.start(policy)
            for task in mixture.tasks:
                check_task(policy, task, config)
            console = RunConsole(config.steps, process=policy.accelerator.process_index)
            engine.report = console.report
            report = partial(console.print, style="yellow")
            trained = [task_examples(task, "train", report=report) for task in mixture.tasks]
            held_out = [task_examples(task, "eval", config.eval.examples, report) for task in mixture.tasks]
            for line in template_warnings(policy, mixture.tasks, [examples[0] for examples in trained]):
                report(line)
            fitting = partial(fitting_examples, policy, config=config.sampling, report=report)
            samplers = [
                PromptSampler(task, weight, fitting(task, "train", examples))
                for (task, weight), examples in zip(mixture.members, trained, strict=True)
            ]
            config = config.in_steps(sum(len(sampler.examples) for sampler in samplers), console.print)
            console.steps = config.steps
            run = cls(
                mixture,
                config,
                policy,
                optimizer,
                samplers,
                [fitting(task, "eval", examples) for task, examples in zip(mixture.tasks, held_out, strict=True)],
                policy.snapshot() if config.kl.coef > 0 else None,
                learned_part(mixture.tasks[0], config.reward_model),  # check_config refuses it with several tasks
                # On purpose while vLLM in this process holds its memory: torch keeps what an update took, and vLLM must
                # wake up beside that.
                default_tokens(policy, config),
                console,
            )
            on_error.pop_all()
        return run

    @property
    def tasks(self) -> list[Task]:
        """The tasks with the reward that they have now: ``reward_model.every`` replaces its model."""
        return [sampler.task for sampler in self.samplers]

    @property
    def fingerprints(self) -> dict[str, dict[Split, str]]:
        """Those of the rows that are trained and evaluated on, by task and split."""
        return {
            sampler.task.name: {"train": _fingerprint(sampler.examples), "eval": _fingerprint(held_out)}
            for sampler, held_out in zip(self.samplers, self.held_out, strict=True)
        }

    @property
    def engine(self) -> RolloutEngine:
        """What samples."""
        engine: RolloutEngine = self.policy.rollout_engine
        return engine

    @property
    def updated_reference(self) -> dict[str, Tensor] | None:
        """The reference if ``kl.reference_sync_every`` updates it, so that it belongs in checkpoints."""
        return self.reference if self.config.kl.reference_sync_every else None


def load_trained_policy(config: TrainConfig) -> Policy:
    """The policy as it will be trained: with fast paths, adapter, precision and sharding. Raises ``UsageError``."""
    policy = load_policy(
        config.model,
        device=config.engine.device,
        precision=config.engine.precision,
        frozen=config.lora.rank > 0 or is_adapter(config.model),
        quantize=config.lora.quantize,
        sharded=True,
    )
    if config.engine.gradient_checkpointing:
        checkpoint_activations(policy.model)
    prepare_adapter(policy, config)
    policy = with_fast_paths(with_fsdp(policy, config))
    processes = policy.accelerator.num_processes
    if config.prompts_per_step % processes:
        raise UsageError(f"prompts_per_step={config.prompts_per_step} cannot be shared by {processes} processes")
    return policy


class Progress:
    """How far training is: ``updates`` are complete steps, ``mid_update`` is True inside the next one's update.

    ``micro_batch_tokens`` is that of the run, or less after memory ran out.
    """

    def __init__(self, run: Run, updates: int) -> None:
        self.updates, self.mid_update, self.micro_batch_tokens = updates, False, run.micro_batch_tokens
        self._report = run.console.report
        run.optimizer.register_step_pre_hook(self._begin)

    def _begin(self, *_: object) -> None:
        self.mid_update = True

    def end_step(self, batches: Sequence[Batch]) -> None:
        """Count a step, and go on with the size of micro-batches that fit."""
        self.updates, self.mid_update = self.updates + 1, False
        if reduced := [batch.reduced_tokens for batch in batches if batch.reduced_tokens]:
            self.micro_batch_tokens = min(reduced)
            line = "out of memory: micro-batches are halved; engine.micro_batch_tokens is now"
            self._report(f"{line} {self.micro_batch_tokens}")


def _fingerprint(examples: Sequence[Example]) -> str:
    return fingerprint(example.info for example in examples)
