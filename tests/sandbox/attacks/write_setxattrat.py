"""write: sets an attribute of a file of the user by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
value = ctypes.create_string_buffer(b'x')
args = (ctypes.c_uint64 * 2)(ctypes.addressof(value), 1)
assert libc.syscall(463, -100, T['secret'].encode(), 0, b'user.x', args, 16) == 0
