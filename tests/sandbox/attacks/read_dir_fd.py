"""read: reads a file of the user relative to a folder's descriptor."""

import os
d = os.open('/', os.O_PATH)
os.read(os.open(T['secret'].lstrip('/'), os.O_RDONLY, dir_fd=d), 9)
