"""processes: ends a process of the user by sigqueue."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.sigqueue(T['pid'], 9, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
