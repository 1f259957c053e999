"""disk: makes 5,000 folders in one another."""

import os, time
for i in range(5000): os.mkdir('a'); os.chdir('a')
time.sleep(.15)
