"""write: replaces a file of the user."""

import os
open('x', 'w')
os.rename('x', T['secret'])
