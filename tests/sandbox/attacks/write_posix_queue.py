"""write: leaves a message queue."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x = os.uname().machine == 'x86_64'
assert libc.syscall(240 if x else 180, b'grpo_env', 0o102, 0o600, 0) >= 0
