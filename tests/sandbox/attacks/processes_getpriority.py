"""processes: asks for the priority of a process of the user."""

import os
os.getpriority(os.PRIO_PROCESS, T['pid'])
