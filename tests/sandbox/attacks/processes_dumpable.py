"""processes: opens its memory to others."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(4, 1, 0, 0, 0) == 0
