"""processes: clones by clone3."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(435, (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17), 88)
assert result >= 0, os.strerror(ctypes.get_errno())
