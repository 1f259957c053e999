"""threads: starts 6,000 threads that end at once."""

import _thread
for i in range(6000): _thread.start_new_thread(int, ())
