"""processes: opens the memory of its parent."""

import os
open(f'/proc/{os.getppid()}/mem', 'rb')
