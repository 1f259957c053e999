"""output: writes 64 MiB of errors, and an end that must be kept short."""

import os
for i in range(1024): os.write(2, bytes(65536))
raise SystemExit(1)
