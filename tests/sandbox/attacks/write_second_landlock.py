"""write: asks for another set of rules for files."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(444, (ctypes.c_uint64 * 1)(1), 8, 0) >= 0
