"""write: talks to devices directly."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert x and libc.syscall(172, 3) == 0
