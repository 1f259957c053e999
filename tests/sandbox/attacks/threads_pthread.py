"""threads: starts 3,000 threads by the C library."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
start = ctypes.cast(libc.pause, ctypes.c_void_p)
attributes = ctypes.create_string_buffer(64)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, 32 << 10)
for i in range(3000):
    assert libc.pthread_create(ctypes.byref(ctypes.c_ulong()), attributes, start, 0) == 0, i
