"""disk: keeps 2,000 removed folders busy."""

import os, time
for i in range(2000): os.mkdir(str(i))
time.sleep(.15)
