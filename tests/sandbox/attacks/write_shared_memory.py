"""write: leaves shared memory."""

from multiprocessing import shared_memory
shared_memory.SharedMemory('grpo_env_attack', True, 99)
