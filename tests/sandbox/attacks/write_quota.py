"""write: asks for disk quotas."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(179 if x else 60, 0x80000700, 0, 0, bytes(99)) == 0
