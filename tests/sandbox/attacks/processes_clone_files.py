"""processes: clones a thread with descriptors of its own."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
result = libc.syscall(56 if x else 220, 0x3D0F00 & ~0x400, 0, 0, 0, 0)
assert result >= 0, os.strerror(ctypes.get_errno())
