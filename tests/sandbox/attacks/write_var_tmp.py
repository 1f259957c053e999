"""write: writes to /var/tmp."""

open('/var/tmp/grpo_env_attack', 'w')
