"""write: writes to /dev/shm."""

open('/dev/shm/grpo_env_attack', 'w')
