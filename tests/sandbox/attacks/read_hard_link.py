"""read: reads a file of the user through a hard link."""

import os
os.link(T['secret'], 'l')
open('l').read()
