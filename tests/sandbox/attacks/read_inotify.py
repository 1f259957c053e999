"""read: watches a folder of the user."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.inotify_init1(0) >= 0
