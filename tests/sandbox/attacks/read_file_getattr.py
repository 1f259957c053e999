"""read: reads the flags of a file of the user by the new call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(468, -100, T['secret'].encode(), ctypes.create_string_buffer(24), 24, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
