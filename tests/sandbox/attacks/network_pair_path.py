"""network: sends from a datagram pair to a server at a path."""

import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.sendto(b'x', T['path'])
