"""memory: maps 2 GiB."""

import mmap
m = mmap.mmap(-1, 2 << 30)
