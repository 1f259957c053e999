"""write: turns address randomization off."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.personality(0x40000) >= 0
