"""write: gets descriptors of its own by close_range."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(436, 90, 99, 2) == 0
