"""write: leaves a message queue of System V."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.msgget(0x1234567, 0o1600) >= 0
