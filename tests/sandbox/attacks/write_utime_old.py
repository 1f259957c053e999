"""write: changes the times of a file of the user by the oldest call."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert x and libc.syscall(132, T['secret'].encode(), bytes(16)) == 0
