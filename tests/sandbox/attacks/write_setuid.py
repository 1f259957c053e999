"""write: becomes another user."""

import os
os.setresuid(1, 1, 1)
