"""processes: has the kernel signal a process of the user, by F_SETOWN_EX."""

import fcntl, os, struct
r, w = os.pipe()
fcntl.fcntl(r, 15, struct.pack('ii', 1, T['pid']))
