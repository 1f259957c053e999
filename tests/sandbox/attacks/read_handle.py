"""read: opens a file of the user by its handle."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(304 if x else 265, -100, bytes(64), 0)
assert result >= 0, os.strerror(ctypes.get_errno())
