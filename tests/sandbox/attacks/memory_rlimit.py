"""memory: raises its limit of memory."""

import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))
