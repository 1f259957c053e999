"""From examples to scored completions: the half of a training step that needs no gradient."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple

from accelerate import Accelerator
from accelerate.utils import gather_object

from grpo_env.core import BatchVerifier, Example, Group, Score, Verifier, score_groups
from grpo_env.taskfile.task import Task

from .config import TrainConfig
from .engine.policy import Policy
from .engine.sampler import Rollout, sample
from .prompts import Prompt, PromptSampler, ask, draw


class ScoredRollout(NamedTuple):
    """One completion of one example, with its score; ``right`` is the task's metric, ``None`` where it is unscored."""

    example: Example
    rollout: Rollout
    score: Score
    right: float | None = None
    task: str = ""


def collect_rollouts(
    policy: Policy, pools: Sequence[PromptSampler], config: TrainConfig, step: int
) -> tuple[list[ScoredRollout], list[ScoredRollout]]:
    """The step's ``prompts_per_step`` groups, and all that were sampled to find them.

    Without ``dynamic_sampling.part`` both are the same. With it, groups whose completions all have the same value of
    that part, and so no gradient, are replaced by groups of further prompts, for at most ``max_rounds`` rounds (Yu et
    al. 2025, DAPO, equation 11). If there are still too few, the first uniform groups fill the batch.
    """
    size, world = config.group_size, policy.accelerator.num_processes
    telling: list[list[ScoredRollout]] = []
    telling_nothing: list[list[ScoredRollout]] = []
    for attempt in range(1 + config.dynamic_sampling.max_rounds * bool(config.dynamic_sampling.part)):
        missing = config.prompts_per_step - len(telling)
        if missing <= 0:
            break
        again = f"/{attempt}" if attempt else ""  # an order and random numbers of its own, whatever came before
        rows = roll_out(
            policy,
            draw(pools, config.prompts_per_step, step, f"{config.seed}{again}")[: -(-missing // world) * world],
            size,
            max_new_tokens=config.sampling.max_new_tokens,
            temperature=config.sampling.temperature,
            seed=f"{config.seed}/{step}{again}",
        )
        for group in (rows[at : at + size] for at in range(0, len(rows), size)):
            (telling if _tells(group, config.dynamic_sampling.part) else telling_nothing).append(group)
    tried = telling + telling_nothing
    return list(chain.from_iterable(tried[: config.prompts_per_step])), list(chain.from_iterable(tried))


def _tells(group: Sequence[ScoredRollout], part: str | None) -> bool:
    """Whether scored completions of a group differ in a part's value. Without a part, every group counts."""
    return part is None or len({one.score.part(part).value for one in group if one.score.scored}) > 1


def roll_out(
    policy: Policy,
    prompts: Sequence[Prompt],
    group_size: int,
    *,
    max_new_tokens: int,
    temperature: float,
    seed: str,
) -> list[ScoredRollout]:
    """Sample and score ``group_size`` completions of every prompt; a group's rows are adjacent.

    A group is scored, in a thread of its own, when its completions have ended and others are still being sampled.
    Processes share the prompts, whole groups each, and all get the whole result. ``seed`` and an example's id fix
    its samples, whatever else is sampled beside it and wherever.
    """
    own = prompts[rank_slice(policy.accelerator, len(prompts))]
    groups: dict[int, Group] = {}
    scores: dict[int, Future[list[list[Score]]]] = {}
    scorer = ThreadPoolExecutor(1)

    def ended(number: int, found: list[Rollout]) -> None:
        task, verifier, example = own[number]
        groups[number] = Group(example, [rollout.completion(task.format.prefill) for rollout in found])
        if not _together(verifier):
            scores[number] = scorer.submit(score_groups, verifier, [groups[number]])

    try:
        rollouts = sample(
            policy,
            [policy.prompt_ids(prompt.example, prompt.task.format) for prompt in own],
            group_size,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            seeds=[f"{seed}/{prompt.example.id}" for prompt in own],
            on_group=ended,
        )
        judgements = {number: future.result()[0] for number, future in scores.items()}
        for verifier in {id(prompt.verifier): prompt.verifier for prompt in own}.values():
            waiting = [n for n, prompt in enumerate(own) if prompt.verifier is verifier and n not in judgements]
            judgements |= zip(waiting, score_groups(verifier, [groups[n] for n in waiting]), strict=True)
    finally:
        scorer.shutdown(cancel_futures=True)
    found = iter(rollouts)
    judged = [
        ScoredRollout(example, next(found), score, metric_value(score, task.metric), task.name)
        for number, (task, _, example) in enumerate(own)
        for score in judgements[number]
    ]
    gathered: list[ScoredRollout] = gather_object(judged)
    return gathered


def evaluate(
    policy: Policy, task: Task, examples: Sequence[Example], config: TrainConfig, *, samples: int, step: int = 0
) -> list[ScoredRollout]:
    """Judge ``samples`` completions of every example, or one greedy completion where ``samples`` is 0.

    As many rows go through the model at once as in a training step, so memory that suffices for one suffices here.
    """
    group = max(1, samples)
    at_once = max(1, config.prompts_per_step * config.group_size // group)
    judged: list[ScoredRollout] = []
    # By prompt length, so that a chunk holds little padding; the order of the result is that of the examples.
    order = sorted(range(len(examples)), key=lambda index: len(policy.prompt_text(examples[index], task.format)))
    for at in range(0, len(order), at_once):
        judged += roll_out(
            policy,
            ask(task, [examples[index] for index in order[at : at + at_once]], step),
            group,
            max_new_tokens=config.sampling.max_new_tokens,
            temperature=config.sampling.temperature if samples else 0.0,
            seed=f"{config.seed}/eval",
        )
    groups = {index: judged[place * group : (place + 1) * group] for place, index in enumerate(order)}
    return [one for index in range(len(examples)) for one in groups[index]]


def _together(verifier: Verifier) -> bool:
    """Models and servers want many at once, and what a model says depends in its last bits on what is beside it."""
    return any(isinstance(part, BatchVerifier) for part in verifier.walk())


def metric_value(score: Score, metric: str) -> float | None:
    """The value of the part that is called ``metric``."""
    return next((part.value for part in score.walk() if part.name == metric), None)


def rank_slice(accelerator: Accelerator, count: int) -> slice:
    """This process's share of ``count`` items, in order of the processes."""
    here, world = accelerator.process_index, accelerator.num_processes
    return slice(here * count // world, (here + 1) * count // world)
