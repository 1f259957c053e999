"""output: writes to all descriptors but its own."""

import os
done = 0
for fd in range(3, 256):
    try: done += os.write(fd, b'{"ended": "exit"}\n')
    except OSError: pass
assert done
