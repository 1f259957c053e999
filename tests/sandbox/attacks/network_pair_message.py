"""network: sends a message with an address from a stream pair."""

import socket
a, b = socket.socketpair()
a.sendmsg([b'x'], [], 0, T['path'])
