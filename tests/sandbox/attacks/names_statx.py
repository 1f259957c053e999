"""names: learns the size of a file of the user by statx."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(332 if x else 291, -100, T['secret'].encode(), 0, 0xFFF, ctypes.create_string_buffer(256)) == 0
