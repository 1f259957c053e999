"""``grpo_env serve``: scoring over HTTP. Needs the extra ``serve``."""
