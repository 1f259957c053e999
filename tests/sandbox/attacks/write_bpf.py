"""write: loads a program into the kernel."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(321 if x else 280, 0, bytes(120), 120) >= 0
