"""network: passes a descriptor through a stream pair."""

import socket, os
a, b = socket.socketpair()
socket.send_fds(a, [b'x'], [0])
