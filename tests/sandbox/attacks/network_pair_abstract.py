"""network: sends from a datagram pair to an abstract server."""

import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.sendto(b'x', '\0' + T['abstract'])
