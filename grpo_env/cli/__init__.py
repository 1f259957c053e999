"""The ``grpo_env`` command."""
