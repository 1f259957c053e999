"""network: makes a socket of family AF_NETLINK."""

import socket
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
