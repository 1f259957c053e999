"""processes: ends a process of the user by a signal to its thread."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(234 if x else 131, T['pid'], T['pid'], 9)
assert result >= 0, os.strerror(ctypes.get_errno())
