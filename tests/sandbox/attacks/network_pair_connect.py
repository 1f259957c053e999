"""network: connects one end of a stream pair elsewhere."""

import socket
a, b = socket.socketpair()
a.connect(T['stream'])
