"""write: makes a socket in its folder."""

import os
os.mknod('x', 0o140600)
