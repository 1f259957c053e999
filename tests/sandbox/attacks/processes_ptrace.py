"""processes: traces its parent."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(16, os.getppid(), 0, 0) == 0
