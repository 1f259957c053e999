"""processes: hides flags of clone in the upper bits."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(56 if x else 220, ctypes.c_ulong(1 << 32 | 17), 0, 0, 0, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
