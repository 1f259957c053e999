"""time: sleeps when its objects are freed."""

import time
class A:
    def __del__(self): time.sleep(30)
A()
