"""write: exchanges a file of the user for its own."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
open('x', 'w')
assert libc.renameat2(-100, b'x', -100, T['secret'].encode(), 2) == 0
