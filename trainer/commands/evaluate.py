"""``grpo_env eval``: a model's accuracy on held-out examples, greedy and sampled, and pass@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from rich.console import Console

from grpo_env.confidence_intervals import estimate_pass_at_k, powers_of_two
from grpo_env.environments import pool
from grpo_env.equality import is_correct
from grpo_env.progress import progress
from grpo_env.rows.writer import check_new
from grpo_env.scoring.problems import warn
from grpo_env.scoring.resume import OutputFile
from grpo_env.taskfile.task import Task, load_task
from grpo_env.workers import scoring_process

from ..episodes.conversation import check_conversation
from ..rollout import make_prompts, sample_rollouts, task_examples
from ..run.evaluation import Sample, accuracy_interval, evaluate, known, summarize
from ..run.folder import with_nulls
from ..run.samples import write_scores
from ..run.task_checks import check_tags, fitting_examples
from ..shared_types import ScoredRollout
from .sampling_policy import sampling_config, sampling_policy
from .served_model import ServedModel


def run_eval(
    task: Task | str,
    model: str | ServedModel | None = None,
    *,
    samples: int = 8,
    limit: int | None = None,
    out: OutputFile | None = None,
    console: Console | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Evaluate a model on a task's held-out examples.

    Args:
        task: a task, or its name or file.
        model: ``bundled``, a folder or a hub id, or ``ServedModel.at`` an OpenAI-compatible endpoint; default: the
            task's own.
        samples: sampled completions per problem, for pass@k with k = 1, 2, 4, ... up to it.
        limit: evaluate on the first so many problems.
        out: a ``.jsonl`` file for the sampled completions with their scores, as ``grpo_env score`` writes them. It is
            written at the end, so there is never an interrupted call to continue.
        console: gets messages and the progress.
        settings: any of ``SETTINGS``, as for ``train``; their defaults come from the task's ``train`` section, whose
            ``prompts_per_step`` x ``group_size`` are sampled at once.

    Returns:
        ``greedy`` and ``sampled`` means (see ``summarize``; ``None`` where nothing could be scored) and ``pass@k``.
        pass@k and the greedy accuracy have 95 % confidence intervals, where there are enough problems to tell them.

    Raises:
        UsageError: wrong settings, an unusable model or task, a file that exists.
    """
    task = load_task(task) if isinstance(task, str) else task
    console = console or Console(stderr=True, quiet=True)
    config = sampling_config(task, "eval", model, settings)
    if out is not None:
        check_new(out.path, overwrite=out.overwrite)
    report = partial(warn, console)
    examples = task_examples(task, "eval", limit, report)
    scoring_process.start()
    overlong = list[str]()
    with nullcontext(model) if isinstance(model, ServedModel) else sampling_policy(config, console) as sampler:
        if isinstance(sampler, ServedModel):
            sampler.print_to(console)
            sample: Sample = sampler.sample_groups
        else:
            check_tags(sampler, task)
            check_conversation(sampler, task)
            examples = fitting_examples(sampler, task, "eval", examples, config.sampling, overlong.append)
            sample = partial(sample_rollouts, sampler)
        with progress("eval", len(examples) * (1 + samples), console) as advance, pool.ended_after():
            rollouts = partial(evaluate, sample, make_prompts(task, examples), config, advance=advance)
            greedy, sampled = rollouts(samples=0), rollouts(samples=samples)
    if out is not None:
        write_scores(out.path, task, sampled, samples, overwrite=out.overwrite, report=report)
    return {
        "task": task.name,
        "model": config.model,
        "metric": task.metric,
        "examples": len(examples),
        "samples": samples,
        "temperature": config.sampling.temperature,
        "max_new_tokens": config.sampling.max_new_tokens,
        "seed": config.seed,
        "greedy": with_nulls(summarize(greedy)),
        "greedy_interval": accuracy_interval(greedy),
        "sampled": with_nulls(summarize(sampled)),
        **_pass_at(sampled, samples),
        **({"overlong_prompts": overlong[0]} if overlong else {}),
    }


def _pass_at(rollouts: Sequence[ScoredRollout], samples: int) -> dict[str, Any]:
    """pass@k for ``powers_of_two``, with intervals over problems; unscored completions are left out."""
    groups = [
        known(row.correct for row in rollouts[start : start + samples]) for start in range(0, len(rollouts), samples)
    ]
    counts = Counter((len(group), sum(map(is_correct, group))) for group in groups)
    means = {f"pass@{k}": estimate_pass_at_k(counts, k) for k in powers_of_two(samples)}
    return {name: {"value": mean.value, "interval": mean.interval} for name, mean in means.items() if mean}
