"""write: changes the times of a system file through a descriptor."""

import os
os.utime(os.open('/usr/lib/os-release', os.O_RDONLY), ns=(1, 1))
