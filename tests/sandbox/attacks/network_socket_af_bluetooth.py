"""network: makes a socket of family AF_BLUETOOTH."""

import socket
socket.socket(31, socket.SOCK_SEQPACKET)
