"""write: keeps memory from being swapped."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(151 if x else 230, 1) == 0
