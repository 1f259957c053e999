"""write: sets an attribute of a system file through a descriptor."""

import os
os.setxattr(os.open('/usr/lib/os-release', os.O_RDONLY), 'user.x', b'x')
