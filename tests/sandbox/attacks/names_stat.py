"""names: learns whether a file of the user exists."""

import os
os.stat(T['secret'])
