"""write: changes the mode of a file of the user by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(452, -100, T['secret'].encode(), 0o600, 0) == 0
