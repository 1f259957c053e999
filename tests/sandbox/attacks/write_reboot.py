"""write: restarts the machine."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.reboot(0) == 0
