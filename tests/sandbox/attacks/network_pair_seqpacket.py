"""network: makes a pair of sequenced packets."""

import socket
socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
