"""write: takes its capabilities back."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
import struct
assert libc.capset(struct.pack('Ii', 0x20080522, 0), struct.pack('6I', 1, 1, 1, 1, 1, 1)) == 0
