"""network: makes a socket of family AF_ALG."""

import socket
socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
