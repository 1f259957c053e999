"""The evaluations of a run: when they are due, what they record and print, and whether they end the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from statistics import fmean
from typing import Any

from grpo_env.equality import all_equal
from grpo_env.progress import progress

from ..config import EvalConfig
from ..rollout import make_prompts, sample_rollouts
from ..shared_types import ScoredRollout
from .evaluation import accuracy_interval, evaluate, summarize
from .folder import MODEL
from .recorder import Recorder, best
from .run import Run
from .trackers import track_completions

SHOWN = 3  # completions printed before and after training


def evaluate_if_due(run: Run, recorder: Recorder, step: int) -> str | None:
    """Evaluate before training, every ``eval.every`` steps, and after it; print completions before and after.

    Returns why the run ends with this evaluation, if it does.
    """
    config, is_last = run.config, step == run.config.steps
    regular = bool(config.eval.every) and step % config.eval.every == 0
    ended_before = step in recorder.folder.numbered(f"{MODEL}-")  # and was then given more steps
    due = config.eval.at_start if step == 0 else regular or ended_before
    if not due and not is_last:
        return None
    greedy, sampled = _evaluate_tasks(run, 0, step), []
    row: dict[str, Any] = {"kind": "eval", "step": step, **summarize(greedy)}
    if config.eval.samples:
        sampled = _evaluate_tasks(run, config.eval.samples, step)
        row |= {f"sampled_{name}": mean for name, mean in summarize(sampled).items()}
    row["accuracy_low"], row["accuracy_high"] = accuracy_interval(greedy) or (None, None)
    recorder.write(row)
    track_completions(recorder.tracker, step, greedy)
    recorder.save_if_best(step)
    reason = None if step == 0 or is_last else end_reason(config.eval, recorder.evaluations)
    if step == 0 or is_last or reason:
        _print_completions(run, f"completions {'after' if step else 'before'} training", greedy)
    if step == 0 < config.steps:
        _warn_if_never_correct(run, [*greedy, *sampled])
    return reason


def end_reason(config: EvalConfig, evaluations: Sequence[Mapping[str, Any]]) -> str | None:
    """Why ``eval.stop_at`` or ``eval.patience`` end the run after the last of these evaluations, if they do."""
    if not evaluations:
        return None
    accuracy, highest = evaluations[-1]["accuracy"], best(evaluations)
    if config.stop_at is not None and accuracy is not None and accuracy >= config.stop_at:
        return f"accuracy {accuracy:.3f} has reached eval.stop_at={config.stop_at:g}"
    if config.patience is None or highest is None:
        return None
    if sum(row["step"] > highest["step"] for row in evaluations) < config.patience:
        return None
    reached = f"accuracy {highest['accuracy']:.3f} after {highest['step']} steps"
    return f"no evaluation was better than {reached} (eval.patience={config.patience})"


def _evaluate_tasks(run: Run, samples: int, step: int) -> list[ScoredRollout]:
    tasks = zip(run.tasks, run.held_out, strict=True)
    prompts = list(chain.from_iterable(make_prompts(task, examples, step) for task, examples in tasks))
    label = f"evaluation after {step} steps, {'sampled' if samples else 'greedy'}"
    total = len(prompts) * max(1, samples) // run.policy.accelerator.num_processes
    sample = partial(sample_rollouts, run.policy)
    with progress(label, total, run.console.console, "" if step else "; eval.at_start=false skips it") as advance:
        return evaluate(sample, prompts, run.config, samples=samples, advance=advance)


def _warn_if_never_correct(run: Run, rollouts: Sequence[ScoredRollout]) -> None:
    """Say so if no completion of a task is correct before training: its metric then has no gradient to begin with."""
    for task in run.tasks:
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


def _print_completions(run: Run, title: str, rollouts: Sequence[ScoredRollout]) -> None:
    """Print ``SHOWN`` completions, or at least one of each task."""
    per_task = -(-SHOWN // len(run.tasks))
    shown = [scored for task in run.tasks for scored in [row for row in rollouts if row.task == task.name][:per_task]]
    run.console.completions(title, [(scored.example, scored.rollout.text, scored.score) for scored in shown])
