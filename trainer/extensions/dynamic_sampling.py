"""The groups of a step. Dynamic sampling (Yu et al. 2025, DAPO, equation 11) replaces those without a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from grpo_env.equality import all_equal

from ..config import TrainConfig
from ..engine.policy import Policy
from ..rollout import sample_rollouts, score_rollouts
from ..shared_types import ScoredRollout
from .prompt_sampler import PromptSampler, sample_prompts

MAX_ROUNDS = 3
"""How often a step samples further prompts at most."""


def sample_groups(policy: Policy, config: TrainConfig, samplers: Sequence[PromptSampler], step: int) -> GroupSelection:
    """Sample G completions of each of P prompts, and score them.

    There is one round, unless dynamic sampling replaces groups without a gradient.
    """
    groups = GroupSelection(config)
    while groups.missing:
        prompts = sample_prompts(samplers, config.prompts_per_step, step, f"{config.seed}{groups.seed}")
        seed = f"{config.seed}/{step}{groups.seed}"
        sampled = sample_rollouts(policy, prompts[: groups.missing], config.group_size, config.sampling, seed)
        groups.add(score_rollouts(sampled))
    return groups


class GroupSelection:
    """Collects the ``prompts_per_step`` groups of a step over one or more rounds of sampling.

    Without ``dynamic_sampling.part`` there is one round. With it, groups whose completions all have the same value of
    that part are replaced by groups of further prompts, in at most ``MAX_ROUNDS`` more rounds. If there are still too
    few informative groups, the first uniform ones fill the batch.
    """

    def __init__(self, config: TrainConfig) -> None:
        self.round = 0
        self._config = config
        self._informative: list[Sequence[ScoredRollout]] = []
        self._uniform: list[Sequence[ScoredRollout]] = []

    @property
    def missing(self) -> int:
        """Number of prompts of the next round; 0: there is no next round."""
        rounds = 1 + (MAX_ROUNDS if self._config.dynamic_sampling.part else 0)
        if self.round == rounds:
            return 0
        return max(0, self._config.prompts_per_step - len(self._informative))

    @property
    def seed(self) -> str:
        """Distinguishes the order of the prompts, and the random numbers, of this round from those of earlier ones."""
        return f"/{self.round}" if self.round else ""

    def add(self, rollouts: Sequence[ScoredRollout]) -> None:
        """Add the groups of a round; a group's rows are adjacent."""
        size, part = self._config.group_size, self._config.dynamic_sampling.part
        for start in range(0, len(rollouts), size):
            group = rollouts[start : start + size]
            informative = part is None or _differ(group, part)
            (self._informative if informative else self._uniform).append(group)
        self.round += 1

    @property
    def sampled(self) -> list[ScoredRollout]:
        """All rollouts of the step, informative groups first."""
        return list(chain(*self._informative, *self._uniform))

    @property
    def selected(self) -> list[ScoredRollout]:
        """The rollouts of the groups to train on."""
        return self.sampled[: self._config.prompts_per_step * self._config.group_size]


def _differ(group: Sequence[ScoredRollout], part: str) -> bool:
    """Whether the scored completions of a group have different values of a part; where it is unscored, it has none."""
    values = (rollout.score.part(part).value for rollout in group if rollout.score.scored)
    return not all_equal([value for value in values if value is not None])
