"""read: asks which pages of a file are in memory by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(451, 0, (ctypes.c_uint64 * 2)(), (ctypes.c_uint64 * 5)(), 0)
assert result >= 0, os.strerror(ctypes.get_errno())
