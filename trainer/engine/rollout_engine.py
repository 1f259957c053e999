"""What a rollout engine is: the function that ``sampler.sample`` calls, what it is given and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .policy import Policy

# Called with a group's number and, for each of its rows, the tokens and their log-probabilities.
OnGroupTokens = Callable[[int, list[list[int]], list[list[float]]], None]


@dataclass(frozen=True)
class SamplingRequest:
    """What to sample: ``group_size`` completions of each prompt; at temperature 0 the most likely tokens.

    ``seeds`` has one string for each prompt. The same request must give the same tokens.
    """

    prompts: Sequence[list[int]]
    group_size: int
    max_new_tokens: int
    temperature: float
    seeds: Sequence[str]


class RolloutEngine(Protocol):
    """Samples from a policy and reports each group as soon as its last completion has ended.

    Rows may go on after an end token; ``sample`` cuts them off there. Log-probabilities are at the temperature of the
    request. Runs in inference mode and under the policy's autocast, on weights that are not sharded.

    Raises:
        DivergedError: the model's output is not finite.
        RunError: the engine cannot sample from this model.
    """

    def __call__(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """Sample everything that is requested."""
        ...
