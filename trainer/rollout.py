"""Rollouts: completions sampled for prompts, and their scores. Nothing here needs a gradient."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from accelerate import Accelerator
from accelerate.utils import gather_object

from grpo_env.core import Example, Group
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .engine.policy import Policy
from .engine.sampling.sampler import Rollout, sample
from .episodes.sampling import sample_episodes
from .group_scoring import BackgroundScorer, metric_value, scores_in_batches, scores_of
from .shared_types import Prompt, ScoredRollout


def task_examples(
    task: Task, split: Split, limit: int | None = None, report: Callable[[str], None] = lambda line: None
) -> list[Example]:
    """``Task.examples``, whose prompts tell the model of the tools of the task's environment, if it has one."""
    examples = task.examples(split, limit, report)
    if task.spec.environment is None:
        return examples
    environment = EnvironmentClass.of_task(task)
    environment.check_columns(examples)
    if not environment.tools:
        return examples
    tools = {"tools": list(environment.tools)}
    return [replace(e, chat_template_kwargs={**e.chat_template_kwargs, **tools}) for e in examples]


def make_prompts(task: Task, examples: Sequence[Example], step: int = 0) -> list[Prompt]:
    """Examples of a task as prompts, with the verifier's scheduled weights at ``step``."""
    verifier = task.verifier.at(step)
    return [Prompt(task, verifier, example) for example in examples]


@dataclass
class SampledGroups:
    """The groups of this process: its prompts, their completions in the same order, and the scores in progress."""

    prompts: Sequence[Prompt]
    groups: dict[int, Group] = field(default_factory=dict)
    rollouts: dict[int, Sequence[Rollout]] = field(default_factory=dict)
    scorer: BackgroundScorer = field(default_factory=BackgroundScorer)
    advance: Callable[[int], None] = lambda count: None

    def add(self, number: int, rollouts: Sequence[Rollout]) -> None:
        """Take a complete group, and start to score it, unless its verifier scores many groups at once."""
        self.advance(len(rollouts))
        self.rollouts[number] = rollouts
        task, verifier, example = self.prompts[number]
        self.groups[number] = Group(example, [rollout.completion(task.format.prefill) for rollout in rollouts])
        if not scores_in_batches(verifier):
            self.scorer.submit(number, verifier, self.groups[number])


def sample_rollouts(
    policy: Policy,
    prompts: Sequence[Prompt],
    group_size: int,
    *,
    max_new_tokens: int,
    temperature: float,
    seed: str,
    environments: int = 64,
    advance: Callable[[int], None] = lambda count: None,
) -> SampledGroups:
    """Sample ``group_size`` completions of every prompt of this process; ``score_rollouts`` completes the result.

    Processes divide the prompts among them, whole groups each. ``seed``, an example's id and how often it came before
    among ``prompts`` determine its completions, whatever else is sampled in the same batch or on other processes.
    Of tasks with an environment, completions are episodes, at most ``environments`` at once. ``advance`` is called with
    the number of completions of each group that is complete.
    """
    shard = rank_slice(policy.accelerator, len(prompts))
    sampled, seeds = SampledGroups(prompts[shard], advance=advance), group_seeds(prompts, seed)[shard]
    options: dict[str, Any] = {"max_new_tokens": max_new_tokens, "temperature": temperature}
    plays = [prompt.task.spec.environment is not None for prompt in sampled.prompts]
    episodes = [number for number, several_turns in enumerate(plays) if several_turns]
    texts = [number for number, several_turns in enumerate(plays) if not several_turns]
    try:
        if any(prompt.task.spec.environment is None for prompt in prompts):
            sample(
                policy,
                [policy.prompt_ids(sampled.prompts[n].example, sampled.prompts[n].task.format) for n in texts],
                group_size,
                seeds=[seeds[n] for n in texts],
                on_group=lambda index, rollouts: sampled.add(texts[index], rollouts),
                **options,
            )
        if any(prompt.task.spec.environment is not None for prompt in prompts):
            sample_episodes(
                policy,
                [sampled.prompts[n] for n in episodes],
                group_size,
                seeds=[seeds[n] for n in episodes],
                at_once=environments,
                on_group=lambda index, rollouts: sampled.add(episodes[index], rollouts),
                **options,
            )
    except BaseException:
        sampled.scorer.stop()
        raise
    return sampled


def score_rollouts(policy: Policy, sampled: SampledGroups, version: int = 0) -> list[ScoredRollout]:
    """Finish scoring; returns the rollouts of all processes, in the order of the prompts, a group's rows adjacent.

    ``version`` is that of the weights that sampled them.
    """
    try:
        scores = {number: future.result()[0] for number, future in sampled.scorer.scores.items()}
        for verifier in {id(prompt.verifier): prompt.verifier for prompt in sampled.prompts}.values():
            waiting = [n for n, p in enumerate(sampled.prompts) if p.verifier is verifier and n not in scores]
            scores |= zip(waiting, scores_of(verifier, [sampled.groups[n] for n in waiting]), strict=True)
    finally:
        sampled.scorer.stop()
    scored = [
        ScoredRollout(example, rollout, score, metric_value(score, task.metric), task.name, task.metric, version)
        for number, (task, _, example) in enumerate(sampled.prompts)
        for rollout, score in zip(sampled.rollouts[number], scores[number], strict=True)
    ]
    gathered: list[ScoredRollout] = gather_object(scored)
    return gathered


def group_seeds(prompts: Sequence[Prompt], seed: str) -> list[str]:
    """The seed of each prompt's group: ``SEED/ID``, and ``SEED/ID#1``, ``SEED/ID#2``, ... where an example is repeated.

    In training, SEED is the run's seed and the step, and under dynamic sampling the round.
    """
    counts: Counter[tuple[str, str]] = Counter()
    seeds = []
    for task, _, example in prompts:
        repetition = counts[task.name, example.id]
        counts[task.name, example.id] += 1
        seeds.append(f"{seed}/{example.id}" + (f"#{repetition}" if repetition else ""))
    return seeds


def rank_slice(accelerator: Accelerator, count: int) -> slice:
    """The part of ``count`` items that belongs to this process, in the order of the processes."""
    rank, world = accelerator.process_index, accelerator.num_processes
    return slice(rank * count // world, (rank + 1) * count // world)
