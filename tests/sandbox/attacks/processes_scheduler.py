"""processes: changes the scheduling of its parent."""

import os
os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))
