"""write: mounts a file system."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mount(b'x', b'.', b'tmpfs', 0, 0) == 0
