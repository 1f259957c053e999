"""write: types into the caller's terminal."""

import fcntl
fcntl.ioctl(0, 0x5412, b'x')
