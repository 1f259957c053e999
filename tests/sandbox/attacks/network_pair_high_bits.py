"""network: hides the family of a pair in the upper bits of the argument."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pair = (ctypes.c_int * 2)()
assert libc.syscall(ctypes.c_long(53 if os.uname().machine == 'x86_64' else 199), ctypes.c_ulong(1 << 32 | 1), ctypes.c_ulong(1 << 32 | 2), 0, pair) == 0
