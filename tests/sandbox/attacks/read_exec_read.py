"""read: loads a file of the user as a library."""

import ctypes
try: ctypes.CDLL(T['secret'])
except OSError as e: assert 'invalid ELF' in str(e) or 'too short' in str(e)
