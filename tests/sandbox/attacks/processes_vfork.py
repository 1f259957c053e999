"""processes: forks by the number of vfork."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(58 if x else -1)
assert result >= 0, os.strerror(ctypes.get_errno())
