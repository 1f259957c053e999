"""write: truncates a file of the user."""

import os
os.truncate(T['secret'], 3)
