"""processes: forks."""

import os
if not os.fork(): os._exit(0)
