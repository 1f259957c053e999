"""processes: has the kernel signal a process of the user, by an ioctl."""

import fcntl, socket, struct
a, b = socket.socketpair()
fcntl.ioctl(a, 0x8901, struct.pack('i', T['pid']))
