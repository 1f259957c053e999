"""processes: has a timer signal a thread."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(222 if x else 107, 0, 0, ctypes.byref(ctypes.c_int()))
assert result >= 0, os.strerror(ctypes.get_errno())
