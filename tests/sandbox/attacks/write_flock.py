"""write: locks a system file."""

import fcntl
fcntl.flock(open('/usr/lib/os-release'), fcntl.LOCK_EX | fcntl.LOCK_NB)
