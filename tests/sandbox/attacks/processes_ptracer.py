"""processes: lets any process trace it."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0) == 0
