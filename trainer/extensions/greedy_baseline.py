"""The baseline of ReMax (Li et al. 2023): the reward of one more completion of each prompt, the most likely one."""

from __future__ import annotations

from collections.abc import Sequence

from grpo_env.taskfile.task import Task

from ..config import TrainConfig
from ..engine.policy import Policy
from ..prompts import make_prompts
from ..rollout import ScoredRollout, sample_rollouts, score_rollouts


def greedy_rollouts(
    policy: Policy, tasks: Sequence[Task], rollouts: Sequence[ScoredRollout], config: TrainConfig, step: int
) -> list[ScoredRollout]:
    """One greedy completion for each group of ``rollouts``, scored; none unless ``advantage.baseline`` is ``greedy``.

    They are baselines only: no loss is computed for them. A verifier that compares completions sees one alone.
    """
    if config.advantage.baseline != "greedy":
        return []
    by_name = {task.name: task for task in tasks}
    firsts = rollouts[:: config.group_size]
    prompts = [prompt for row in firsts for prompt in make_prompts(by_name[row.task], [row.example], step)]
    sampled = sample_rollouts(
        policy,
        prompts,
        1,
        max_new_tokens=config.sampling.max_new_tokens,
        environments=config.sampling.environments,
        temperature=0.0,
        seed=f"{config.seed}/{step}/greedy",
    )
    return score_rollouts(policy, sampled)
