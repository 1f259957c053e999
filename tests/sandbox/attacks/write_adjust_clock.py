"""write: asks for the adjustment of the clock."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.adjtimex(bytes(208)) >= 0
