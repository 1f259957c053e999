"""write: removes an attribute of a file of the user by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(466, -100, T['secret'].encode(), 0, b'user.x') == 0
