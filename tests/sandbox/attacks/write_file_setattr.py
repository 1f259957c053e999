"""write: sets the flags of a file of the user by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(469, -100, T['secret'].encode(), bytes(24), 24, 0) == 0
