"""The sampler: G completions per prompt, drawn from the policy itself, by its rollout engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from grpo_env.core import Completion, Finish
from grpo_env.errors import UsageError

from ..policy import Policy
from .own import OwnEngine
from .protocol import RolloutEngine, SamplingRequest


@dataclass(frozen=True)
class Rollout:
    """One sampled completion. ``ids`` include the end token, if there is one.

    ``logps`` are the float32 log-probabilities of ``ids`` at the sampling temperature. Their last bits depend on what
    was sampled at the same time, so they are left out of comparisons.

    ``seen`` is what verifiers see, where the tokens do not say it: of an episode, and of a completion from an endpoint,
    of which no tokens are known. An episode of several turns has in ``spans`` the range ``[start, end)`` of the sampled
    tokens of each turn in ``ids``. Tokens between them were not sampled, and their ``logps`` are 0.
    """

    prompt_ids: list[int]
    ids: list[int]
    text: str
    finish: Finish
    logps: list[float] = field(compare=False)
    spans: tuple[tuple[int, int], ...] | None = None
    seen: Completion | None = None

    @property
    def num_sampled(self) -> int:
        """Number of tokens that were sampled: all of ``ids``, unless ``seen`` says it."""
        return len(self.ids) if self.seen is None else self.seen.num_tokens or 0

    @property
    def sampled(self) -> list[bool]:
        """For each of ``ids``, whether it was sampled."""
        if self.spans is None:
            return [True] * len(self.ids)
        mask = [False] * len(self.ids)
        for start, end in self.spans:
            mask[start:end] = [True] * (end - start)
        return mask

    def completion(self, prefill: str = "") -> Completion:
        """The completion as verifiers see it."""
        if self.seen is not None:
            return self.seen
        return Completion(self.text, self.finish, len(self.ids), prefill, tuple(self.ids))


OnGroup = Callable[[int, list[Rollout]], None]
"""Called with a group's number and rollouts as soon as the last of them has ended."""


def sample(
    policy: Policy, request: SamplingRequest, on_group: OnGroup = lambda number, rollouts: None
) -> list[Rollout]:
    """Sample what is requested; the rows of a group are adjacent.

    With the ``own`` engine a group's completions depend on nothing but its prompt and its seed: not on the other
    prompts, nor on when other rows end, and a resumed run needs no generator state. ``on_group`` is called with a
    group's number and rollouts as soon as the last of them has ended.

    Raises:
        UsageError: prompt and completion together exceed the positions of the model or the engine.
        DivergedError: the model's output is not finite.
        RunError: the policy's rollout engine cannot sample from this model, or memory is too small for one group.
    """
    positions, whose = policy.position_limit
    for prompt, limit in zip(request.prompts, request.limits, strict=True):
        if positions is not None and len(prompt) + limit > positions:
            raise UsageError(f"a prompt of {len(prompt)} tokens and sampling.max_new_tokens={limit} exceed {whose}")
    ends = set(policy.end_ids)
    groups: dict[int, list[Rollout]] = {}

    def on_group_tokens(number: int, rows: list[list[int]], logps: list[list[float]]) -> None:
        limit = request.limits[number]
        groups[number] = [
            _rollout(policy, request.prompts[number], tokens[:limit], row_logps, ends)
            for tokens, row_logps in zip(rows, logps, strict=True)
        ]
        on_group(number, groups[number])

    engine: RolloutEngine = policy.rollout_engine or OwnEngine()
    engine.generate(policy, request, on_group_tokens)
    return [rollout for number in range(len(request.prompts)) for rollout in groups[number]]


def _rollout(policy: Policy, prompt_ids: list[int], tokens: list[int], logps: list[float], ends: set[int]) -> Rollout:
    length = next((index + 1 for index, token in enumerate(tokens) if token in ends), None)
    ids = tokens[:length]
    text = policy.decode(ids if length is None else ids[:-1])
    return Rollout(prompt_ids, ids, text, "length" if length is None else "stop", logps[: len(ids)])
