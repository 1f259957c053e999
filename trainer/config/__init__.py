"""The settings of a training run, their ranges, and error messages for wrong ones."""

from .groups import AdvantageConfig as AdvantageConfig
from .groups import Aggregation as Aggregation
from .groups import EvalConfig as EvalConfig
from .groups import ImportanceLevel as ImportanceLevel
from .groups import KLConfig as KLConfig
from .groups import LossConfig as LossConfig
from .groups import OptimizerConfig as OptimizerConfig
from .groups import RewardModelConfig as RewardModelConfig
from .groups import SamplingConfig as SamplingConfig
from .train import FIELDS as FIELDS
from .train import GROUPS as GROUPS
from .train import TrainConfig as TrainConfig
from .train import flatten as flatten
from .train import with_located_code as with_located_code
