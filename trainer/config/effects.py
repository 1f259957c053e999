"""Settings that have an effect only beside others: a run in which one has none is not the one that was meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grpo_env.errors import UsageError

from .train import FIELDS, TrainConfig, flatten

Condition = tuple[Callable[[TrainConfig], bool], str]

_ADAPTER: Condition = (lambda config: config.lora.rank > 0, "lora.rank above 0")
_VALUES: Condition = (lambda config: config.step_values.rollouts > 0, "step_values.rollouts above 0")
_TRAINED: Condition = (lambda config: config.reward_model.every > 0, "reward_model.every above 0")
_CLIPPED: Condition = (lambda config: config.loss.function is None, "the built-in loss (loss.function replaces it)")

NEEDS: dict[str, Condition] = {
    "advantage.step_credit": (lambda config: config.supervision != "outcome", "supervision=process or both"),
    "lora.alpha": _ADAPTER,
    "lora.quantize": _ADAPTER,
    "loss.clip_high": _CLIPPED,
    "loss.clip_low": _CLIPPED,
    "reward_model.peak_learning_rate": _TRAINED,
    "reward_model.replay": _TRAINED,
    "sampling.gpu_memory_fraction": (
        lambda config: config.sampling.engine == "vllm" and config.sampling.url is None,
        "sampling.engine=vllm without sampling.url",
    ),
    "step_values.segments": _VALUES,
}
"""What a setting needs, as a test of the config and in words."""


def check_effects(settings: Mapping[str, Any], config: TrainConfig) -> None:
    """Raises ``UsageError`` if one of the user's ``settings``, of which ``config`` was made, has no effect in it.

    Defaults may be given anywhere; those of a task may be idle, since the user changes what they depend on.
    """
    values = flatten(config.model_dump())
    for name in flatten(settings):
        if name in NEEDS and values[name] != FIELDS[name].default:
            holds, needed = NEEDS[name]
            if not holds(config):
                raise UsageError(f"settings: {name}={values[name]} has no effect without {needed}")
