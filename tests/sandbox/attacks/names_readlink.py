"""names: reads a symbolic link of the user."""

import os
os.readlink(T['secret'] + '.link')
