"""network: reaches sockets by the x32 numbers."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(0x40000000 | 41, 1, 1, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
