"""processes: forks by the 32-bit entry of the kernel."""

import ctypes, mmap, os
assert os.uname().machine == 'x86_64'
m = mmap.mmap(-1, 4096, prot=7)
m.write(b'\xb8\x02\x00\x00\x00\xcd\x80\xc3')
result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
assert result >= 0
