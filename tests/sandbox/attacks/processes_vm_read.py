"""processes: reads the memory of its parent."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(8)
class V(ctypes.Structure): _fields_ = [('b', ctypes.c_void_p), ('l', ctypes.c_size_t)]
v = V(ctypes.addressof(buffer), 8)
assert libc.process_vm_readv(os.getppid(), ctypes.byref(v), 1, ctypes.byref(v), 1, 0) >= 0
