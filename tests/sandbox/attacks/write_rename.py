"""write: renames a file of the user."""

import os
os.rename(T['secret'], 'x')
