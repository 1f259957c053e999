"""write: makes its root writable."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mount(0, b'/', 0, 32, 0) == 0
