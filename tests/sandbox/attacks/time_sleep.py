"""time: sleeps past its limit."""

import time
time.sleep(30)
