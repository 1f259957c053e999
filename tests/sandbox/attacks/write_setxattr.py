"""write: sets an attribute of a file of the user."""

import os
os.setxattr(T['secret'], 'user.x', b'x')
