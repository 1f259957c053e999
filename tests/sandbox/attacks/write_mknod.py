"""write: makes a device."""

import os
os.mknod('x', 0o60600, 0)
