"""disk: makes 2,000 folders."""

import os, time
for i in range(2000): os.mkdir(str(i))
time.sleep(.15)
