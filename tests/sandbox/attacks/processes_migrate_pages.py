"""processes: moves the memory of a process of the user."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(256 if x else 238, T['pid'], 8, bytes(8), bytes(8))
assert result >= 0, os.strerror(ctypes.get_errno())
