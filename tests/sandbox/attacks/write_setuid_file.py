"""write: makes a program that runs as its user."""

import os
open('x', 'w')
os.chmod('x', 0o4755)
