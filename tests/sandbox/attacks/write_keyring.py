"""write: leaves a key in the kernel."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(248 if x else 217, b'user', b'grpo_env', b'x', 1, -5) >= 0
