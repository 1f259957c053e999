"""write: changes its segment table."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert x and libc.syscall(154, 0, bytes(99), 99) >= 0
