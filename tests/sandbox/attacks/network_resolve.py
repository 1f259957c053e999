"""network: asks for the address of a name."""

import socket
socket.getaddrinfo('example.org', 80, proto=6)
assert 0 or socket.socket()
