"""write: sets the clock."""

import time
time.clock_settime(time.CLOCK_REALTIME, time.time())
