"""processes: moves its parent to one processor."""

import os
os.sched_setaffinity(os.getppid(), {0})
