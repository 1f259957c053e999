"""Rollouts: completions sampled for prompts, and their scores. Nothing here needs a gradient."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from accelerate import Accelerator
from accelerate.utils import gather_object

from grpo_env.core import Example, Group
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.taskfile.schema import AnySplit
from grpo_env.taskfile.task import Task

from .background_scorer import BackgroundScorer, metric_value, scores_in_batches, scores_of
from .config import SamplingConfig
from .engine.policy import Policy
from .engine.sampling.protocol import SamplingRequest
from .engine.sampling.sampler import OnGroup, Rollout, sample
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
    sampling: SamplingConfig,
    seed: str,
    advance: Callable[[int], None] = lambda count: None,
) -> SampledGroups:
    """Sample ``group_size`` completions of every prompt of this process; ``score_rollouts`` completes the result.

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
) -> SampledGroups:
    """Sample ``count`` completions from each start of this process, each with its beginning of at most
    ``sampling.max_new_tokens`` tokens.
    """
    mine = starts[rank_slice(policy.accelerator, len(starts))]
    sampled, everywhere = SampledGroups([start.prompt for start in mine], advance=advance), set(map(_plays, starts))
    try:
        for plays, sample_part in ((False, _sample_texts), (True, sample_episodes)):
            if plays in everywhere:  # all processes sample if one of them does
                numbers = [number for number, start in enumerate(mine) if _plays(start) == plays]
                part = [mine[number] for number in numbers]
                sample_part(policy, part, count, sampling, partial(_add, sampled, numbers))
    except BaseException:
        sampled.scorer.stop()
        raise
    return sampled


def _add(sampled: SampledGroups, numbers: Sequence[int], index: int, rollouts: Sequence[Rollout]) -> None:
    sampled.add(numbers[index], rollouts)


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


def score_rollouts(sampled: SampledGroups) -> list[ScoredRollout]:
    """Finish scoring; returns the rollouts of all processes, in the order of the prompts, a group's rows adjacent."""
    try:
        scores = {number: future.result()[0] for number, future in sampled.scorer.scores.items()}
        for verifier in {id(prompt.verifier): prompt.verifier for prompt in sampled.prompts}.values():
            waiting = [n for n, p in enumerate(sampled.prompts) if p.verifier is verifier and n not in scores]
            scores |= zip(waiting, scores_of(verifier, [sampled.groups[n] for n in waiting]), strict=True)
    finally:
        sampled.scorer.stop()
    scored = [
        ScoredRollout(prompt.example, rollout, score, metric_value(score, prompt.task.metric), prompt.task.name)
        for number, prompt in enumerate(sampled.prompts)
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
