"""time: raises its limit of processor time."""

import resource
resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))
