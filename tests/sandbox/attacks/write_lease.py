"""write: takes a lease on a file, which delays others."""

import fcntl
fcntl.fcntl(open('x', 'w'), fcntl.F_SETLEASE, fcntl.F_WRLCK)
