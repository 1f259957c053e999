"""names: learns whether a process exists from its processors."""

import os
os.sched_getaffinity(T['pid'])
