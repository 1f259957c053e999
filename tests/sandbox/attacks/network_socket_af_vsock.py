"""network: makes a socket of family AF_VSOCK."""

import socket
socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
