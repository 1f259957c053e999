"""processes: ends a process of the user by tkill."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(200 if x else 130, T['pid'], 9)
assert result >= 0, os.strerror(ctypes.get_errno())
