"""write: changes the times of a file of the user by futimesat."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert x and libc.syscall(261, -100, T['secret'].encode(), bytes(32)) == 0
