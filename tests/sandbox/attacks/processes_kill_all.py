"""processes: sends a signal to all processes."""

import os
os.kill(-1, 0)
