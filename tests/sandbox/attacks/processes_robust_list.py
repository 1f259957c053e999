"""processes: asks for the futexes of a process of the user."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(274 if x else 100, T['pid'], ctypes.byref(ctypes.c_void_p()), ctypes.byref(ctypes.c_size_t()))
assert result >= 0, os.strerror(ctypes.get_errno())
