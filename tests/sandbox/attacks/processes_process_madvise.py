"""processes: gives memory of its parent away."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(440, libc.syscall(434, os.getppid(), 0), 0, 0, 8, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
