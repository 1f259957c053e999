"""network: makes a socket of family AF_PACKET."""

import socket
socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
