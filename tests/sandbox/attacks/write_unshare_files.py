"""write: gets descriptors of its own."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x400) == 0
