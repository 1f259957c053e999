"""write: changes its root."""

import os
os.chroot('.')
