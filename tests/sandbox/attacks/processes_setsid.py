"""processes: leaves its session."""

import os
os.setsid()
