"""memory: takes 1 GiB of huge pages."""

import mmap
m = mmap.mmap(-1, 1 << 30, flags=0x40022)
