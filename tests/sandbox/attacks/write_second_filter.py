"""write: loads another filter of system calls."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(317 if x else 277, 2, 0, bytes(4)) == 0
