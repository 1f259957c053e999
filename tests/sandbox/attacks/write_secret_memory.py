"""write: makes memory that no limit counts."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(447, 0) >= 0
