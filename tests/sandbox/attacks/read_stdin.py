"""read: finds the caller's files behind its own standard input."""

import os
os.lseek(0, 0, 0)
assert b'readable' + b'": [' in os.pread(0, 10**6, 0)
