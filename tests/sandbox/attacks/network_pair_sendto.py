"""network: sends from a stream pair to an address."""

import socket
a, b = socket.socketpair()
a.sendto(b'x', T['path'])
