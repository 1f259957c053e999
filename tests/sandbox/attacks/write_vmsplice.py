"""write: splices memory into a pipe."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
r, w = os.pipe()
buffer = ctypes.create_string_buffer(8)
assert libc.syscall(278 if x else 75, w, (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8), 1, 0) >= 0
