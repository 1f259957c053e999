"""write: removes a file of the user."""

import os
os.unlink(T['secret'])
