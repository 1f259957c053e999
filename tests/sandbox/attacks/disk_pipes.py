"""disk: holds 64 MiB in pipes."""

import fcntl, os
keep = []
for i in range(28):
    r, w = os.pipe(); fcntl.fcntl(w, 1031, 1 << 20); keep.append((r, w))
