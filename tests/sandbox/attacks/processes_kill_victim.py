"""processes: ends a process of the user."""

import os
os.kill(T['pid'], 9)
