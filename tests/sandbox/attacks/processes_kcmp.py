"""processes: compares itself with its parent."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(312 if x else 272, os.getpid(), os.getppid(), 0, 0, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
