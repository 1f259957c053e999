"""``grpo_env view``: a local, read-only viewer of the completions of score files and runs. Needs the extra ``view``."""
