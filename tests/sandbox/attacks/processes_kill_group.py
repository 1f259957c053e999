"""processes: sends a signal to its group."""

import os
os.kill(0, 0)
