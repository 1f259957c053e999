"""write: mounts a file system by the new calls."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(430, b'tmpfs', 0) >= 0
