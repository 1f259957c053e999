"""threads: starts 6,000 threads with small stacks."""

import threading
threading.stack_size(32 << 10)
e = threading.Event()
for i in range(6000): threading.Thread(target=e.wait, daemon=True).start()
