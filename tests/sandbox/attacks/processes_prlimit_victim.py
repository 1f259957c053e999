"""processes: reads the limits of a process of the user."""

import resource
resource.prlimit(T['pid'], resource.RLIMIT_CPU)
