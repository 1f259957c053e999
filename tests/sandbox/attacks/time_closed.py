"""time: closes all its descriptors and sleeps."""

import os, time
os.closerange(0, 99)
time.sleep(30)
