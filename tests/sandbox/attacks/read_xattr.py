"""read: reads an attribute of a file of the user."""

import os
os.getxattr(T['secret'], 'user.x')
