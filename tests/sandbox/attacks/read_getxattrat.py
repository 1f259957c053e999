"""read: reads an attribute of a file of the user by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(464, -100, T['secret'].encode(), 0, b'user.x', bytes(16), 16)
assert result >= 0, os.strerror(ctypes.get_errno())
