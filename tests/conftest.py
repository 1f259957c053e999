"""Property tests use the same examples in every run; ``HYPOTHESIS_PROFILE=search`` searches for new ones."""

import os

from hypothesis import settings

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
