"""write: joins the namespaces of its parent."""

import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.setns(os.open(f'/proc/{os.getppid()}/ns/mnt', os.O_RDONLY), 0) == 0
