"""write: writes the file system of the user to disk."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syncfs(os.open('/usr', os.O_RDONLY)) == 0
