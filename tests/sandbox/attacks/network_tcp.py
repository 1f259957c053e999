"""network: connects to a TCP server."""

import socket
socket.create_connection(('127.0.0.1', T['tcp']), 1)
