"""names: learns whether a process exists."""

import os
os.stat(f'/proc/{T["pid"]}')
