"""The engines by their names in ``sampling.engine``."""

from __future__ import annotations

from ...config import TrainConfig
from .own import OwnEngine
from .protocol import RolloutEngine
from .transformers import TransformersEngine
from .vllm import VllmEngine
from .vllm_server import VllmServers


def make_engine(config: TrainConfig) -> RolloutEngine:
    """The engine of ``sampling.engine``, not yet started. Raises ``UsageError`` if its package is not installed."""
    sampling = config.sampling
    if sampling.urls:
        return VllmServers(sampling.urls, sampling.weight_transfer)
    if sampling.engine == "vllm":
        return VllmEngine(sampling.gpu_memory_fraction)
    return OwnEngine() if sampling.engine == "own" else TransformersEngine()
