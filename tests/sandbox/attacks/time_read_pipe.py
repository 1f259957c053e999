"""time: waits for a pipe."""

import os
r, w = os.pipe()
os.read(r, 1)
