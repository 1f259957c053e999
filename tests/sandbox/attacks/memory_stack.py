"""memory: raises its limit of the stack beyond that of memory."""

import resource, threading
threading.stack_size(1 << 30)
t = threading.Thread(target=int); t.start(); t.join()
