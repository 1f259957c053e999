"""read: reads a file of the user through a symbolic link."""

import os
os.symlink(T['secret'], 'l')
open('l').read()
