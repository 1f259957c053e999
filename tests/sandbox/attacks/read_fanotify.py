"""read: watches what others open."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.fanotify_init(0, 0) >= 0
