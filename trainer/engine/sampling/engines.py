"""The engines by their names in ``sampling.engine``."""

from __future__ import annotations

from ...config import TrainConfig
from .own import OwnEngine
from .protocol import RolloutEngine
from .transformers import TransformersEngine


def make_engine(config: TrainConfig) -> RolloutEngine:
    """The engine of ``sampling.engine``, not yet started."""
    return {"own": OwnEngine, "transformers": TransformersEngine}[config.sampling.engine]()
