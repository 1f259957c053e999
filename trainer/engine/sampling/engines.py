"""The engines by their names in ``sampling.engine``."""

from __future__ import annotations

from ...config import TrainConfig
from .own import OwnEngine
from .protocol import RolloutEngine
from .vllm import VllmEngine
from .vllm_server import VllmServers


def make_engine(config: TrainConfig) -> RolloutEngine:
    """The engine of ``sampling.engine``, not yet started. Raises ``UsageError`` if its package is not installed."""
    sampling = config.sampling
    if sampling.urls:
        return VllmServers(sampling.urls)
    # No longer "auto", which ``TrainConfig.from_mapping`` settles.
    return VllmEngine(sampling.gpu_memory_fraction) if sampling.engine == "vllm" else OwnEngine()
