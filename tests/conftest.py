"""Nothing comes from a network. Property tests use fixed examples; ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported

from hypothesis import settings

from .peer import peer as peer

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
