"""read: finds an open descriptor of its caller."""

import os
found = []
for fd in range(3, 4096):
    try: os.fstat(fd); found.append(fd)
    except OSError: pass
assert found
