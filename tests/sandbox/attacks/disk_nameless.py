"""disk: keeps 64 MiB in files without a name."""

import os
keep = []
for i in range(8):
    fd = os.open('.', os.O_TMPFILE | os.O_RDWR); os.write(fd, bytes(8 << 20)); keep.append(fd)
