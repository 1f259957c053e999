"""write: writes all file systems of the machine to disk."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
libc.syscall(162 if x else 81)
assert not ctypes.get_errno(), ctypes.get_errno()
