"""What a rollout engine is: what it is given, what it reports, and when its weights change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..policy import Policy

# Called with a group's number and, for each of its rows, the tokens and their log-probabilities.
OnGroupTokens = Callable[[int, list[list[int]], list[list[float]]], None]


@dataclass(frozen=True)
class SamplingRequest:
    """What to sample: ``group_size`` completions of each prompt; at temperature 0 the most likely tokens.

    ``prompts`` are token ids, and ``max_new_tokens`` counts tokens. ``seeds`` has one string for each prompt, by
    default its number. The same request must give the same tokens, up to rounding. ``limits`` has the maximum number of
    tokens of a completion of each prompt, by default ``max_new_tokens``, which is the largest of them.
    """

    prompts: Sequence[list[int]]
    group_size: int
    max_new_tokens: int
    temperature: float
    seeds: Sequence[str] = ()
    limits: Sequence[int] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", self.seeds or [str(number) for number in range(len(self.prompts))])
        object.__setattr__(self, "limits", self.limits or [self.max_new_tokens] * len(self.prompts))

    def part(self, numbers: Sequence[int]) -> SamplingRequest:
        """The request for some of its prompts."""
        prompts, seeds = [self.prompts[number] for number in numbers], [self.seeds[number] for number in numbers]
        return replace(self, prompts=prompts, seeds=seeds, limits=[self.limits[number] for number in numbers])


class RolloutEngine(ABC):
    """Samples completions from a policy.

    A run calls ``start`` once; then, in every step, ``update_weights``, ``generate`` as often as it likes, and
    ``sleep`` until the next step; and ``close`` at the end. All processes make the same calls. An engine that samples
    from the policy's own tensors needs only ``generate``. ``report`` shows a message to the user; a run sets it.
    """

    report: Callable[[str], None] = staticmethod(lambda message: None)
    description = "the library's own sampler"
    """What samples and where, for a run's first lines, known once it has started."""
    versions: Mapping[str, str] = MappingProxyType({})
    """Versions of the packages that it samples with, by their names, beside the trainer's own; known then too."""
    uses_policy_model = True
    """Whether ``generate`` computes with the policy's own weights, which are whole meanwhile (``unsharded``)."""
    max_positions: int | None = None
    """The most tokens of a prompt and its completion together that the engine takes, known once it has started."""

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
