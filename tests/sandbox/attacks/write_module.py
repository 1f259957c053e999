"""write: loads a module into the kernel."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(313 if x else 273, 0, b'', 0) == 0
