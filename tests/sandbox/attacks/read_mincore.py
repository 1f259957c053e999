"""read: asks which pages of a file are in memory."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
import mmap
m = mmap.mmap(-1, 4096)
assert libc.syscall(27 if x else 232, ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), 4096, ctypes.create_string_buffer(1)) == 0
