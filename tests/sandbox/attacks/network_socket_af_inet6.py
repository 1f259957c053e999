"""network: makes a socket of family AF_INET6."""

import socket
socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
