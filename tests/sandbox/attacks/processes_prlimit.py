"""processes: limits its parent."""

import os, resource
resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))
