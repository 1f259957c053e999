"""write: changes the owner of a file of the user."""

import os
os.chown(T['secret'], -1, -1)
