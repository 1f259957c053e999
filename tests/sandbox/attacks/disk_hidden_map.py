"""disk: keeps 64 MiB in removed files that are mapped."""

import mmap, os
keep = []
for i in range(8):
    with open('x', 'w+b') as f:
        f.write(bytes(8 << 20)); f.flush(); keep.append(mmap.mmap(f.fileno(), 4096))
    os.unlink('x')
