"""read: maps a file of the user."""

import mmap
mmap.mmap(open(T['secret'], 'rb').fileno(), 0, access=mmap.ACCESS_READ)
