"""write: binds its memory."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(238 if x else 237, 0, 0, 0) == 0
