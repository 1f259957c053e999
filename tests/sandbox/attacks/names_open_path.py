"""names: opens a file of the user without reading it."""

import os
os.open(T['secret'], os.O_PATH)
