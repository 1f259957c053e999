"""``grpo_env generate``: a model's completions of a task's examples, in a file for ``grpo_env score``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from rich.console import Console

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.progress import progress
from grpo_env.rows.jsonl import dump_record
from grpo_env.rows.writer import check_new
from grpo_env.scoring.job import ChunkResult
from grpo_env.scoring.problems import warn
from grpo_env.scoring.resume import OutputFile, ResumableOutput, examples_hash, resumable
from grpo_env.scoring.summary import ScoreSummary
from grpo_env.taskfile.schema import AnySplit
from grpo_env.taskfile.task import Task

from ..config import TrainConfig
from ..engine.policy import Policy
from ..engine.sampling.protocol import SamplingRequest
from ..engine.sampling.sampler import Rollout, sample
from ..rollout import group_seeds, make_prompts
from ..run.task_checks import check_tags, fitting_examples
from ..shared_types import Prompt
from .sampling_policy import SETTINGS, sampling_config, sampling_identity, sampling_policy
from .served_model import SETTINGS as SERVED_SETTINGS
from .served_model import ServedModel

# Columns that score reads from a row; the data's own columns of these names are left out.
RESERVED = frozenset(
    {"id", "group", "prompt", "completion", "completions", "finish_reason", "num_tokens", "token_ids"}
    | {"reasoning_content", "turns", "environment"}
)


@dataclass(frozen=True)
class Request:
    """What to sample: ``samples`` completions, or a greedy one, of the first ``limit`` examples of a split.

    ``batch`` completions are sampled at once, and then saved.
    """

    split: AnySplit = "eval"
    samples: int = 8
    greedy: bool = False
    limit: int | None = None
    batch: int = 128

    @property
    def copies(self) -> int:
        """Completions of each example."""
        return 1 if self.greedy else self.samples


def generate(
    task: Task,
    out: OutputFile,
    request: Request | None = None,
    *,
    model: str | ServedModel | None = None,
    console: Console,
    **settings: Any,
) -> ScoreSummary:
    """Sample completions of a task's examples into ``out``: JSONL, a row per example, which ``score`` reads as it is.

    An interrupted call leaves its work next to the file, and the same call continues it. Completions of the eval split
    are those of ``run_eval`` with the same samples and settings (up to rounding, for engines other than our own).

    Args:
        task: the task.
        out: a ``.jsonl`` file.
        request: which examples, and how many completions.
        model: as for ``run_eval``.
        console: gets messages and the progress.
        settings: any of ``SETTINGS``, as for ``train``; their defaults come from the task's ``train`` section.

    Returns:
        The numbers of ``rows`` and ``completions``, and in ``statuses["finish"]`` how completions ended.

    Raises:
        UsageError: wrong settings, an unusable model or task, a file that exists.
        RunError: the engine cannot go on, or the file cannot be written.
    """
    if task.spec.environment is not None:
        raise UsageError(
            f"{task.source}: environment: generate samples single texts; episodes: grpo_env eval --out FILE"
        )
    check_new(out.path, overwrite=True)  # whether it may be overwritten is seen when it is opened
    request = request or Request()
    config = sampling_config(task, "generate", model, settings)
    report = partial(warn, console)
    examples = task.examples(request.split, request.limit, report)
    _check_gold_answers(task, examples)
    served = model if isinstance(model, ServedModel) else None
    identity = {
        **sampling_identity(config, SETTINGS if served is None else SERVED_SETTINGS),
        **({} if served is None else {"endpoint": served.endpoint.url}),
        "task": task.name,
        "format": asdict(task.format),
        "examples": examples_hash(examples),
        "request": asdict(request),
    }
    output = ResumableOutput(out, identity, task.data_files)
    with output, sampling_policy(config, console) if served is None else nullcontext(served) as sampler:
        if isinstance(sampler, ServedModel):
            sampler.print_to(console)
        else:
            check_tags(sampler, task)
            examples = fitting_examples(sampler, task, request.split, examples, config.sampling, report)
        console.print(
            f"task       {task.name}: {counted(len(examples), 'example')} of the {request.split} split, "
            f"{request.copies} completions each"
        )
        before, start = output.summary.completions, time.perf_counter()
        with resumable(output, counted(output.summary.rows, "example"), "prompts", console):
            _sample_rest(sampler, make_prompts(task, examples), config, request, output, console)
        output.finish()
    summary, seconds = output.summary, time.perf_counter() - start
    now = f", {summary.completions - before:,} of them now" if before else ""
    console.print(
        f"{counted(summary.completions, 'completion')} of {counted(summary.rows, 'prompt')}{now} in {seconds:.1f} s; "
        f"{summary.statuses['finish']['length']:,} cut off at sampling.max_new_tokens={config.sampling.max_new_tokens}",
        soft_wrap=True,
    )
    if served and request.copies > 1 and summary.statuses["group"]["equal"] == len(examples) > 1:
        report(f"the completions of every prompt are equal: {served.name} may be sampled at temperature 0 there")
    return summary


def _sample_rest(
    sampler: Policy | ServedModel,
    prompts: Sequence[Prompt],
    config: TrainConfig,
    request: Request,
    output: ResumableOutput,
    console: Console,
) -> None:
    """Sample what ``output`` does not have yet."""
    size = max(1, request.batch // request.copies)
    rest = prompts[output.chunks * size :]
    with progress("generate", len(rest) * request.copies, console) as advance:
        for start in range(0, len(rest), size):
            some = rest[start : start + size]
            rollouts = _sample(sampler, some, config, request, advance)
            groups = [rollouts[place : place + request.copies] for place in range(0, len(rollouts), request.copies)]
            lines = "".join(
                dump_record(_row(prompt.example, group)) for prompt, group in zip(some, groups, strict=True)
            )
            ends = Counter[str](rollout.finish for rollout in rollouts)
            kinds = Counter("equal" if len({row.text for row in group}) == 1 else "different" for group in groups)
            statuses = {"finish": ends, "group": kinds}
            summary = ScoreSummary(rows=len(some), completions=len(rollouts), statuses=statuses)
            output.add(ChunkResult(lines.encode(), (), summary))


def _sample(
    sampler: Policy | ServedModel,
    prompts: Sequence[Prompt],
    config: TrainConfig,
    request: Request,
    advance: Callable[[int], None],
) -> list[Rollout]:
    sampling, seed = config.sampling, f"{config.seed}/{request.split}"
    if request.greedy:
        sampling = sampling.model_copy(update={"temperature": 0.0})
    if isinstance(sampler, ServedModel):
        return sampler.sample(prompts, request.copies, sampling, seed, advance)
    ids, seeds = [sampler.prompt_ids(example, task.format) for task, _, example in prompts], group_seeds(prompts, seed)
    asked = SamplingRequest(ids, request.copies, sampling.max_new_tokens, sampling.temperature, seeds)
    return sample(sampler, asked, lambda number, group: advance(len(group)))


def _row(example: Example, rollouts: Sequence[Rollout]) -> dict[str, Any]:
    """The example's columns, its prompt and its completions, as ``score`` reads them.

    Of completions from an endpoint, the token ids are not known.
    """
    prompt, completions = example.prompt, [rollout.completion() for rollout in rollouts]
    ids = [completion.token_ids for completion in completions]
    return {
        **{name: value for name, value in example.info.items() if name not in RESERVED},
        "id": example.id,
        "prompt": prompt if isinstance(prompt, str) else [message._asdict() for message in prompt],
        "completions": [completion.text for completion in completions],
        "finish_reason": [completion.finish for completion in completions],
        "num_tokens": [completion.num_tokens for completion in completions],
        "token_ids": None if None in ids else ids,
    }


def _check_gold_answers(task: Task, examples: Sequence[Example]) -> None:
    """Raises ``UsageError`` if ``score`` would not find the gold answer of an example in its row."""
    for example in examples:
        row = _row(example, ())
        try:
            same = task.answer(row, "row") == example.answer
        except UsageError:
            same = False
        if not same:
            used = sorted(RESERVED & example.info.keys())
            raise UsageError(
                f"{task.source}: dataset.answer reads one of the columns {', '.join(used)}, which have another meaning "
                "in a file of completions; rename it in the data"
            )
