"""write: handles its own page faults."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(323 if x else 282, 1) >= 0
