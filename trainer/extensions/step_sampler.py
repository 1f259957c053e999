"""The samples of each step, drawn when they are needed or, with ``sampling.off_policy_steps``, one step ahead."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

from ..config import TrainConfig
from ..engine.policy import Policy
from ..engine.sampling.protocol import EngineAwayError, RolloutEngine
from ..rollout import SampledGroups, sample_rollouts, score_rollouts
from .dynamic_sampling import GroupSelection
from .prompt_sampler import PromptSampler, sample_prompts


class StepSampler:
    """Samples and scores the groups of one step after another.

    With ``sampling.off_policy_steps=1``, ``start_next`` samples the next step's first round in a thread while the
    policy is updated. Further rounds of dynamic sampling come from the updated weights. Only sampling, and scoring of
    single groups, goes on meanwhile: what processes do together waits for ``sample``.
    """

    def __init__(self, policy: Policy, config: TrainConfig, samplers: Sequence[PromptSampler]) -> None:
        self._policy, self._config, self._samplers = policy, config, samplers
        self._executor = ThreadPoolExecutor(1)
        self._ahead: Future[SampledGroups] | None = None
        self.waited = 0.0  # seconds of the last ``wait``

    def sample(self, step: int) -> GroupSelection:
        """Sample G completions of each of P prompts, and score them, with the engine's weights, those of ``step``.

        Scoring begins in the background as soon as a group is complete. There is one round, unless dynamic sampling
        replaces groups without a gradient.
        """
        groups = GroupSelection(self._config)
        while groups.missing:
            sampled, version = self._take_ahead(), step - 1
            if sampled is None:
                sampled, version = self._round(step, groups)(), step
            groups.add(score_rollouts(self._policy, sampled, version))
        return groups

    def start_next(self, step: int) -> None:
        """Begin to sample the step after ``step``, if that is to be done ahead and there is one."""
        if not self._config.sampling.off_policy_steps or step + 1 == self._config.steps:
            return
        self._engine.policy_changes = True
        next_round = self._round(step + 1, GroupSelection(self._config))
        self._ahead = self._executor.submit(next_round)

    def wait(self) -> None:
        """Wait until nothing is sampled or scored ahead; ``waited`` is then the seconds that it took."""
        self.waited = 0.0
        if self._ahead is None:
            return
        began = time.perf_counter()
        wait([self._ahead])
        if self._ahead.exception() is None:
            wait(self._ahead.result().scorer.scores.values())
        self._engine.policy_changes = False
        self.waited = time.perf_counter() - began

    def close(self) -> None:
        """Give up what is sampled ahead, and the engine with it, or its samples would be waited for."""
        if self._ahead is not None:
            self._engine.close()
            if self._ahead.exception() is None:
                self._ahead.result().scorer.stop()
        self._executor.shutdown()

    @property
    def _engine(self) -> RolloutEngine:
        engine: RolloutEngine = self._policy.rollout_engine
        return engine

    def _round(self, step: int, groups: GroupSelection) -> partial[SampledGroups]:
        """A call that samples the next round of a step; its prompts are chosen now."""
        config = self._config
        prompts = sample_prompts(self._samplers, config.prompts_per_step, step, f"{config.seed}{groups.seed}")
        return partial(
            sample_rollouts,
            self._policy,
            prompts[: groups.missing],
            config.group_size,
            config.sampling,
            f"{config.seed}/{step}{groups.seed}",
        )

    def _take_ahead(self) -> SampledGroups | None:
        """What was sampled ahead; ``None`` if there is nothing, or the engine was away."""
        ahead, self._ahead = self._ahead, None
        try:
            return None if ahead is None else ahead.result()
        except EngineAwayError:
            return None
