"""Rollouts: completions sampled for prompts, and their scores. Nothing here needs a gradient."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial

from accelerate import Accelerator

from grpo_env.core import Example
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.taskfile.schema import AnySplit
from grpo_env.taskfile.task import Task

from .background_scorer import BackgroundScorer
from .config import SamplingConfig
from .engine.policy import Policy
from .engine.sampling.protocol import SamplingRequest
from .engine.sampling.sampler import OnGroup, Rollout, sample
from .engine.sharding import unsharded
from .episodes.sampling import sample_episodes
from .shared_types import Prompt, ScoredRollout, Start


def task_examples(
    task: Task, split: AnySplit, limit: int | None = None, report: Callable[[str], None] = lambda line: None
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


def sample_rollouts(
    policy: Policy,
    prompts: Sequence[Prompt],
    group_size: int,
    sampling: SamplingConfig,
    seed: str,
    advance: Callable[[int], None] = lambda count: None,
) -> list[ScoredRollout]:
    """Sample and score ``group_size`` completions of every prompt; returns those of all processes, in the order of the
    prompts, a group's rows adjacent.

    Processes divide the prompts among them, whole groups each. ``seed``, an example's id and how often it came before
    among ``prompts`` determine its completions, whatever else is sampled in the same batch or on other processes.
    Of tasks with an environment, completions are episodes. ``advance`` is
    called with the number of completions of each group that is complete.
    """
    starts = [Start(prompt, None, 0, own) for prompt, own in zip(prompts, group_seeds(prompts, seed), strict=True)]
    return sample_from(policy, starts, group_size, sampling, advance)


def sample_from(
    policy: Policy,
    starts: Sequence[Start],
    count: int,
    sampling: SamplingConfig,
    advance: Callable[[int], None] = lambda count: None,
) -> list[ScoredRollout]:
    """Sample and score ``count`` completions from each start, as ``sample_rollouts``: each with its beginning at most
    ``sampling.max_new_tokens`` tokens.
    """
    mine = starts[rank_slice(policy.accelerator, len(starts))]
    engine, everywhere = policy.rollout_engine, set(map(_plays, starts))
    with closing(BackgroundScorer([start.prompt for start in mine], advance)) as scorer:
        # All processes enter together, since they then sample different numbers of tokens and turns.
        with unsharded(policy) if engine is None or engine.uses_policy_model else nullcontext():
            for plays, sample_part in ((False, _sample_texts), (True, sample_episodes)):
                if plays in everywhere:  # all processes sample if one of them does
                    numbers = [number for number, start in enumerate(mine) if _plays(start) == plays]
                    part = [mine[number] for number in numbers]
                    sample_part(policy, part, count, sampling, partial(_add, scorer, numbers))
        return scorer.finish()


def _add(scorer: BackgroundScorer, numbers: Sequence[int], index: int, rollouts: Sequence[Rollout]) -> None:
    scorer.add(numbers[index], rollouts)


def _sample_texts(
    policy: Policy, starts: Sequence[Start], count: int, sampling: SamplingConfig, on_group: OnGroup
) -> None:
    """Sample completions of one turn; ``on_group`` gets whole texts."""
    prompts, seeds = [_read(policy, start) for start in starts], [start.seed for start in starts]
    limits = [sampling.max_new_tokens - start.length for start in starts]
    longest = max(limits, default=sampling.max_new_tokens)
    request = SamplingRequest(prompts, count, longest, sampling.temperature, seeds, limits)
    sample(
        policy, request, lambda index, rests: on_group(index, [_joined(policy, starts[index], rest) for rest in rests])
    )


def _plays(start: Start) -> bool:
    return start.prompt.task.spec.environment is not None


def _read(policy: Policy, start: Start) -> list[int]:
    """The tokens of a text that a model reads before it goes on."""
    if start.rollout is None:
        return policy.prompt_ids(start.prompt.example, start.prompt.task.format)
    return start.rollout.prompt_ids + start.rollout.ids[: start.length]


def _joined(policy: Policy, start: Start, rest: Rollout) -> Rollout:
    """A text from its beginning, if it has one; log-probabilities are those of whole samples only."""
    if start.rollout is None:
        return rest
    ids = start.rollout.ids[: start.length] + rest.ids
    text = policy.decode(ids[:-1] if rest.finish == "stop" else ids)
    return replace(start.rollout, ids=ids, text=text, finish=rest.finish, logps=[])


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
