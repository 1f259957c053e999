"""write: sets the flags of a system file by an ioctl."""

import fcntl, os
fcntl.ioctl(os.open('/usr/lib/os-release', os.O_RDONLY), 0x40086602, bytes(8))
