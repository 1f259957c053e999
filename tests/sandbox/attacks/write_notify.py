"""write: has itself told of changes in a system folder."""

import fcntl, os
fcntl.fcntl(os.open('/usr/lib', os.O_RDONLY), fcntl.F_NOTIFY, 0x80000002)
