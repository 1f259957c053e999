"""write: removes an attribute of a file of the user."""

import os
os.removexattr(T['secret'], 'user.x')
