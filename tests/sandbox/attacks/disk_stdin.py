"""disk: writes 40 MiB to its standard input's file."""

import os
for i in range(3): os.pwrite(0, bytes(14 << 20), i * 14 << 20)
