"""read: lists the attributes of a file of the user."""

import os
os.listxattr(T['secret'])
