"""The settings of a training run, their ranges, and error messages for wrong ones."""

from .algorithm import AdvantageConfig as AdvantageConfig
from .algorithm import Aggregation as Aggregation
from .algorithm import ImportanceLevel as ImportanceLevel
from .algorithm import KLConfig as KLConfig
from .algorithm import LossConfig as LossConfig
from .algorithm import OptimizerConfig as OptimizerConfig
from .groups import EvalConfig as EvalConfig
from .groups import RewardModelConfig as RewardModelConfig
from .groups import SamplingConfig as SamplingConfig
from .train import FIELDS as FIELDS
from .train import GROUPS as GROUPS
from .train import TrainConfig as TrainConfig
from .train import flatten as flatten
from .train import with_located_code as with_located_code
