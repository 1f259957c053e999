"""What a run prints at its start, and the metrics and samples that it records at its steps and evaluations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from torch import Tensor

from grpo_env.equality import all_equal

from ..advantages import phantom_gradient
from ..batch import Batch
from ..config import FIELDS, TrainConfig, engine_here, flatten
from ..config.presets import PRESETS
from ..engine.description import model_line, precision_warning
from ..engine.fast.layers import is_supported
from ..extensions.dynamic_sampling import GroupSelection
from ..extensions.step_values import StepValues
from ..optimizer import learning_rate
from ..reward_models.learned import agreement
from ..shared_types import ScoredRollout
from ..update import UpdateStats
from .evaluation import accuracy_interval, evaluate, summarize
from .folder import SAMPLES
from .metrics import MetricsLogger
from .reward_model import training_figures
from .run import Run
from .samples import SampleFiles
from .trackers import start_tracker

ALGORITHM = ("loss", "advantage", "kl")
SHOWN = 3  # completions printed before and after training


def start_recording(run: Run, start: int) -> None:
    """Start the metrics logger, and print what will run, on what, and where its files are."""
    tracker = start_tracker(run.config.tracker, run.folder.path, flatten(run.config.model_dump()), start)
    run.metrics = MetricsLogger(run.folder, run.console, tracker)
    config = run.config
    run.samples = SampleFiles(
        run.folder, run.mixture.tasks, config.group_size, config.checkpoint.samples_gb, run.policy.decode
    )
    for sampler in run.samplers:
        weight = f", weight {sampler.weight:g}" if len(run.samplers) > 1 else ""
        task = sampler.task
        run.console.print(f"task       {task.name}: {len(sampler.examples)} examples, metric {task.metric}{weight}")
    run.console.print(f"model      {model_line(run.policy)}")
    run.console.print(f"sampling   {run.engine.description}{_why_this_engine(run.config)}")
    run.console.print(
        f"algorithm  {settings_text(config)}, {config.supervision} supervision, {config.steps} steps of "
        f"{config.prompts_per_step} x {config.group_size} = {config.prompts_per_step * config.group_size} completions"
    )
    if config.engine.micro_batch_tokens is None and run.policy.device.type == "cuda":
        run.console.print(
            f"memory     engine.micro_batch_tokens is {run.micro_batch_tokens}, by the free memory of this GPU"
        )
    _print_fallbacks(run)
    accumulation = os.environ.get("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "1")
    if accumulation not in ("1", "auto"):
        run.console.print(
            f"ignored    ACCELERATE_GRADIENT_ACCUMULATION_STEPS={accumulation} has no effect: each step is divided by "
            "engine.micro_batch_tokens, which does not change its gradient"
        )
    run.console.print(f"run        {run.folder.path}" + (f", resumed after {start} steps" if start else ""))


def _why_this_engine(config: TrainConfig) -> str:
    """Why ``sampling.engine=auto`` has led to the engine, as far as the device tells."""
    name, why = engine_here(config.engine.device)
    return f": {why}" if name == config.sampling.engine and not config.sampling.urls else ""


def settings_text(config: TrainConfig) -> str:
    """The preset, and the settings of the loss, the advantages and the KL penalty that differ from it."""
    values, preset = flatten(config.model_dump()), PRESETS.get(str(config.preset), {})
    usual = {name: preset.get(name, FIELDS[name].default) for name in values}
    changed = [name for name in values if name.partition(".")[0] in ALGORITHM and values[name] != usual[name]]
    return f"{config.preset or 'default'} settings" + (f" except {', '.join(changed)}" if changed else "")


def _print_fallbacks(run: Run) -> None:
    """Say which fast paths this model does not support."""
    policy = run.policy
    if why := policy.refusals.get("has_separate_head"):
        run.console.print(
            f"loss       with the logits of all tokens at once: this model's head cannot be applied by itself ({why})"
        )
    if why := policy.refusals.get("shares_prompts"):
        run.console.print(
            f"loss       each completion with its own copy of the prompt: this model cannot share it ({why})"
        )
    if why := policy.refusals.get("uses_varlen"):
        run.console.print(
            f"loss       attention with padding and masks, without variable-length flash attention ({why})"
        )
    if not is_supported(policy.model):
        run.console.print("layers     those of transformers: there are no faster ones for this model")
    if (warning := precision_warning(policy)) is not None:
        run.console.print(warning, "yellow")


def record_step(
    run: Run,
    step: int,
    groups: GroupSelection,
    batches: Sequence[Batch],
    advantages: Tensor,
    stats: UpdateStats,
    times: tuple[float, float, float],
    values: StepValues | None = None,
) -> None:
    """Record the metrics of a step and its completions.

    Means are over everything that was sampled: the groups that dynamic sampling selects for the updates are half
    correct by selection. ``advantages`` are those of the selected groups. ``times`` are those of the start, the end of
    scoring and the end of the updates.
    """
    (start, scored, end), sampled = times, groups.sampled
    tokens = sum(rollout.rollout.num_sampled for rollout in sampled)
    row = {
        "kind": "train",
        "step": step,
        **summarize(sampled),
        "groups_sampled": len(sampled) // run.config.group_size,
        "uniform_groups": sum(batch.uniform_groups for batch in batches) / run.config.prompts_per_step,
        "phantom_gradient": phantom_gradient(groups.selected, advantages, run.config.group_size),
        **asdict(stats),
        "staleness": fmean(step - rollout.version for rollout in sampled),
        "learning_rate": learning_rate(run.config.optimizer, step, run.config.steps),
        "tokens": tokens,
        "tokens_per_second": tokens / (end - start),
        "sample_seconds": scored - start,
        "update_seconds": end - scored,
    }
    if values is not None:
        row |= {"values": values.values, "value_tokens": values.tokens, "value_seconds": values.seconds}
    if run.learned is not None:
        row |= agreement(sampled, run.learned, run.config.group_size) | training_figures(run, step)
    for sampler in run.samplers:
        sampler.update_rates(sampled)
    run.metrics.write(row)
    if not run.folder.writes:
        return
    was_full = run.samples.is_full
    run.samples.write(step, sampled, advantages)
    if run.samples.is_full and not was_full:
        run.console.print(
            f"samples    {run.folder.path / SAMPLES} has checkpoint.samples_gb={run.config.checkpoint.samples_gb:g} "
            "gigabytes: only the first group of each further step is kept",
            "yellow",
        )


def evaluate_if_due(run: Run, step: int) -> None:
    """Evaluate before training, every ``eval.every`` steps, and after it; print completions before and after."""
    config, is_end = run.config, step in (0, run.config.steps)
    was_end = step == run.earlier_steps
    if not (is_end or was_end) and not (config.eval.every and step % config.eval.every == 0):
        return
    greedy, sampled = _evaluate_tasks(run, 0, step), []
    row: dict[str, Any] = {"kind": "eval", "step": step, **summarize(greedy)}
    if config.eval.samples:
        sampled = _evaluate_tasks(run, config.eval.samples, step)
        row |= {f"sampled_{name}": mean for name, mean in summarize(sampled).items()}
    row["accuracy_low"], row["accuracy_high"] = accuracy_interval(greedy)
    run.metrics.write(row)
    if is_end:
        _print_completions(run, f"completions {'after' if step else 'before'} training", greedy)
    if step == 0 < config.steps:
        _warn_if_never_correct(run, [*greedy, *sampled])


def _warn_if_never_correct(run: Run, rollouts: Sequence[ScoredRollout]) -> None:
    """Say so if no completion of a task is correct before training: its metric then has no gradient to begin with."""
    for task in run.mixture.tasks:
        scored = [rollout for rollout in rollouts if rollout.task == task.name and rollout.score.scored]
        if not scored or any(rollout.correct for rollout in scored):
            continue
        cut = fmean(rollout.rollout.finish == "length" for rollout in scored)
        rewards = [rollout.score.value or 0.0 for rollout in scored]
        spread = "the same reward" if all_equal(rewards) else f"rewards from {min(rewards):g} to {max(rewards):g}"
        longer = "a larger sampling.max_new_tokens, " if cut >= 0.5 else ""
        run.console.print(
            f"warning    {task.name}: 0 of {len(scored)} completions are correct, {cut:.0%} are cut off, and they have "
            f"{spread}. If this stays so, there is nothing to learn from: try {longer}a prompt that shows the form of "
            "an answer (prompt.shots), a prefill, easier examples, or a model that can answer now and then",
            "yellow",
        )


def _evaluate_tasks(run: Run, samples: int, step: int) -> list[ScoredRollout]:
    kind = "sampled" if samples else "greedy"
    total = sum(map(len, run.held_out)) * max(1, samples) // run.policy.accelerator.num_processes
    with run.console.progress(f"evaluation after {step} steps, {kind}", total) as advance:
        return [
            rollout
            for task, examples in zip(run.mixture.tasks, run.held_out, strict=True)
            for rollout in evaluate(run.policy, task, examples, run.config, samples=samples, step=step, advance=advance)
        ]


def _print_completions(run: Run, title: str, rollouts: Sequence[ScoredRollout]) -> None:
    """Print ``SHOWN`` completions, or at least one of each task: first those whose verdict is another than before."""
    verdicts = {(scored.task, scored.example.id): scored.correct for scored in rollouts}
    earlier, run.first_verdicts = run.first_verdicts or verdicts, verdicts
    changed = {key for key, verdict in verdicts.items() if earlier.get(key, verdict) != verdict}
    per_task = -(-SHOWN // len(run.mixture.tasks))
    shown = []
    for task in run.mixture.tasks:
        own = [scored for scored in rollouts if scored.task == task.name]
        shown += sorted(own, key=lambda scored: (scored.task, scored.example.id) not in changed)[:per_task]
    if changed:
        title += f"; {len(changed)} of {len(verdicts)} verdicts changed, these among them"
    run.console.completions(title, [(scored.example, scored.rollout.text, scored.score) for scored in shown])
