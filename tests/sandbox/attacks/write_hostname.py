"""write: renames the machine."""

import socket
socket.sethostname('x')
