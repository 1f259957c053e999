"""read: copies a file of the user by the kernel."""

import shutil
shutil.copyfile(T['secret'], 'x')
