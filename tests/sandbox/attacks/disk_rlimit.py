"""disk: raises its limit of file sizes."""

import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))
