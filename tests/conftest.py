"""Nothing comes from a network. Property tests use fixed examples; ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported
# The suite starts hundreds of processes, which should not compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from hypothesis import settings

from .peer import peer as peer

sys.dont_write_bytecode = False

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
