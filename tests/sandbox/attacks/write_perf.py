"""write: measures the processor."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(298 if x else 241, bytes(120), 0, -1, -1, 0) >= 0
