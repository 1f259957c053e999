"""write: changes the owner of a symbolic link."""

import os
os.lchown(T['secret'], -1, -1)
