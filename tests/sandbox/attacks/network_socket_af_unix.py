"""network: makes a socket of family AF_UNIX."""

import socket
socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
