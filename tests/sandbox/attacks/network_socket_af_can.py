"""network: makes a socket of family AF_CAN."""

import socket
socket.socket(socket.AF_CAN, socket.SOCK_RAW)
