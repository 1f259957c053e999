"""The groups of a step. Dynamic sampling (Yu et al. 2025, DAPO, equation 11) replaces those without a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from grpo_env.equality import all_equal

from ..config import TrainConfig
from ..engine.policy import Policy
from ..rollout import sample_rollouts
from ..shared_types import ScoredRollout
from .prompt_sampler import PromptSampler, sample_prompts

MAX_ROUNDS = 3
"""How often a step samples further prompts at most."""


def sample_groups(
    policy: Policy, config: TrainConfig, samplers: Sequence[PromptSampler], step: int
) -> list[ScoredRollout]:
    """Sample G completions of each of P prompts, and score them; the rows of a group are adjacent.

    There is one round, unless ``dynamic_sampling.part`` is set: groups whose completions all have the same value of
    that part are then replaced by groups of further prompts, in at most ``MAX_ROUNDS`` more rounds. They come last, and
    the first P groups are those to train on: if there are still too few informative ones, uniform ones are among them.
    """
    part, count, size = config.dynamic_sampling.part, config.prompts_per_step, config.group_size
    informative: list[Sequence[ScoredRollout]] = []
    uniform: list[Sequence[ScoredRollout]] = []
    for number in range(1 + (MAX_ROUNDS if part else 0)):
        if len(informative) >= count:
            break
        suffix = f"/{number}" if number else ""  # or the order of the prompts and the samples would be the same again
        prompts = sample_prompts(samplers, count, step, f"{config.seed}{suffix}")[: count - len(informative)]
        rollouts = sample_rollouts(policy, prompts, size, config.sampling, f"{config.seed}/{step}{suffix}")
        for group in (rollouts[start : start + size] for start in range(0, len(rollouts), size)):
            (informative if part is None or differ(group, part) else uniform).append(group)
    return list(chain(*informative, *uniform))


def differ(group: Sequence[ScoredRollout], part: str) -> bool:
    """Whether the scored completions of a group have different values of a part; where it is unscored, it has none."""
    values = (rollout.score.part(part).value for rollout in group if rollout.score.scored)
    return not all_equal([value for value in values if value is not None])
