"""write: changes the times of a file of the user."""

import os
os.utime(T['secret'], (0, 0))
