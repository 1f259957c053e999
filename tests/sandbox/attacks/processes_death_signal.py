"""processes: survives its parent."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(1, 0, 0, 0, 0) == 0
