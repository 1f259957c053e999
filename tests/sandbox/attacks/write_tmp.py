"""write: writes to /tmp."""

open('/tmp/grpo_env_attack', 'w')
