"""write: leaves shared memory of System V."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.shmget(0x1234567, 4096, 0o1600) >= 0
