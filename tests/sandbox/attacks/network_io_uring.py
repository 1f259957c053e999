"""network: makes sockets by io_uring."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 8, bytes(200)) >= 0
