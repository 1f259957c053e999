"""Configs for tests."""

from __future__ import annotations

from typing import Any

from grpo_env.trainer.config import TrainConfig


def with_settings(config: TrainConfig, **changes: Any) -> TrainConfig:
    """The config with other settings: ``with_settings(config, kl={"coef": 0.1}, **{"loss.clip_low": 0.1})``."""
    return TrainConfig.from_mapping(changes, defaults=config.model_dump())
