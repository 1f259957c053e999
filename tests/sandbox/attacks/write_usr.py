"""write: writes to the system's programs."""

open('/usr/bin/grpo_env_attack', 'w')
