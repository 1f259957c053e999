"""The settings of a training run, their ranges, and error messages for wrong ones."""

from .algorithm import (
    AdvantageConfig,
    Aggregation,
    ImportanceLevel,
    KLConfig,
    LossConfig,
    OptimizerConfig,
    Scale,
    Std,
    StepCredit,
)
from .effects import check_effects
from .reward_model import RewardModelConfig
from .sampling import SamplingConfig, engine_here
from .step_values import Segments, StepValuesConfig
from .train import FIELDS, GROUPS, TrainConfig, flatten, with_located_code

__all__ = [
    "FIELDS",
    "GROUPS",
    "AdvantageConfig",
    "Aggregation",
    "ImportanceLevel",
    "KLConfig",
    "LossConfig",
    "OptimizerConfig",
    "RewardModelConfig",
    "SamplingConfig",
    "Scale",
    "Segments",
    "Std",
    "StepCredit",
    "StepValuesConfig",
    "TrainConfig",
    "check_effects",
    "engine_here",
    "flatten",
    "with_located_code",
]
