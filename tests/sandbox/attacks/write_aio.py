"""write: writes by asynchronous calls."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(206 if x else 0, 1, ctypes.byref(ctypes.c_uint64())) == 0
