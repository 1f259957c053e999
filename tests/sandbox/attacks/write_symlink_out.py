"""write: makes a symbolic link beside a file of the user."""

import os
os.symlink('/', T['secret'] + '2')
