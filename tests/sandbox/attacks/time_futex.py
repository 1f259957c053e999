"""time: waits for itself."""

import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
