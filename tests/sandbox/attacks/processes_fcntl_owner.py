"""processes: has the kernel signal a process of the user."""

import fcntl, os
r, w = os.pipe()
fcntl.fcntl(r, fcntl.F_SETOWN, T['pid'])
