"""write: changes the mode of a system file through a descriptor."""

import os
os.fchmod(os.open('/usr/lib/os-release', os.O_RDONLY), 0o644)
