"""What a rollout engine is: what it is given, what it reports, and when its weights change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from grpo_env.errors import RunError

from ..policy import Policy
from ..prefix_cache import Prefix, PrefixCache

# Called with a group's number and, for each of its rows, the tokens and their log-probabilities.
OnGroupTokens = Callable[[int, list[list[int]], list[list[float]]], None]


@dataclass(frozen=True)
class SamplingRequest:
    """What to sample: ``group_size`` completions of each prompt; at temperature 0 the most likely tokens.

    ``prompts`` are token ids, and ``max_new_tokens`` counts tokens. ``seeds`` has one string for each prompt. The same
    request must give the same tokens, up to rounding. ``limits``, if given, has the maximum number of tokens for each
    prompt, of which ``max_new_tokens`` is the largest.

    If the prompts are conversations that go on, each of one row, ``keys`` name them. An engine may then take what it
    has computed of them from ``prefix_cache``, and keep there what the next turn can use.
    """

    prompts: Sequence[list[int]]
    group_size: int
    max_new_tokens: int
    temperature: float
    seeds: Sequence[str]
    limits: Sequence[int] | None = None
    prefix_cache: PrefixCache | None = None
    keys: Sequence[Hashable] = ()

    def limit(self, number: int) -> int:
        """The maximum number of tokens of a completion of prompt ``number``."""
        return self.max_new_tokens if self.limits is None else self.limits[number]

    def take_prefixes(self) -> list[Prefix | None]:
        """What is kept of each prompt."""
        if self.prefix_cache is None:
            return []
        return [self.prefix_cache.take(key, prompt) for key, prompt in zip(self.keys, self.prompts, strict=True)]

    def without_prefix_cache(self) -> SamplingRequest:
        """The request after all prefixes are freed; it keeps none either."""
        if self.prefix_cache is not None:
            self.prefix_cache.clear()
        return replace(self, prefix_cache=None, keys=())

    def part(self, numbers: Sequence[int]) -> SamplingRequest:
        """The request for some of its prompts."""
        limits = None if self.limits is None else [self.limits[number] for number in numbers]
        prompts, seeds = [self.prompts[number] for number in numbers], [self.seeds[number] for number in numbers]
        keys = [self.keys[number] for number in numbers] if self.keys else ()
        return replace(self, prompts=prompts, seeds=seeds, limits=limits, keys=keys)


class EngineAwayError(RunError):
    """An engine would need the weights again while they change (``RolloutEngine.policy_changes``)."""


class RolloutEngine(ABC):
    """Samples completions from a policy.

    A run calls ``start`` once; then, in every step, ``update_weights``, ``generate`` as often as it likes, and
    ``sleep`` until the next step; and ``close`` at the end. All processes make the same calls. An engine that samples
    from the policy's own tensors needs only ``generate``. ``report`` shows a message to the user; a run sets it.
    """

    report: Callable[[str], None] = staticmethod(lambda message: None)
    uses_policy_model = True
    """Whether ``generate`` computes with the policy's own model or device, and not while the policy is updated."""
    max_positions: int | None = None
    """The most tokens of a prompt and its completion together that the engine takes, known once it has started."""
    policy_changes = False
    """While True, the policy is being updated: ``generate`` must not use its weights, and raises ``EngineAwayError`` if
    it cannot go on without them. A run sets it, for engines that do not use the policy's model."""

    @property
    def description(self) -> str:
        """What samples and where, for a run's first lines, once it has started."""
        return "the library's own sampler"

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages that it samples with, by their names, beside the trainer's own."""
        return {}

    def start(self, policy: Policy) -> None:  # noqa: B027
        """Load the model with the policy's weights, version 0. Raises ``UsageError`` if that is not possible."""

    def update_weights(self, policy: Policy, version: int) -> None:  # noqa: B027
        """Sample from the policy's current weights, those after ``version`` updates; wakes a sleeping engine.

        Does nothing if the engine is awake and has this version. Raises ``RunError``.
        """

    @abstractmethod
    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """Sample everything that is requested; report each group as soon as its last completion has ended.

        Tokens include the end token (``policy.end_ids``); ``sample`` cuts off what follows it or exceeds the limit.
        Log-probabilities are nats at the request's temperature; at temperature 0 they mean nothing.

        Raises:
            DivergedError: the model's output is not finite.
            RunError: the engine cannot sample from this model, or has stopped.
        """

    def sleep(self) -> None:  # noqa: B027
        """Free the device's memory until the next ``update_weights``, where it is the policy's device."""

    def close(self) -> None:  # noqa: B027
        """Release everything. An engine that was closed, or that did not start, may be closed again."""
