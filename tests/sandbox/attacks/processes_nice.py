"""processes: slows its parent down."""

import os
os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
