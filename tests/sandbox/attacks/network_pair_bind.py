"""network: binds one end of a stream pair, and listens."""

import socket
a, b = socket.socketpair()
a.bind('x')
a.listen()
