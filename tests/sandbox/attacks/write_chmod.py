"""write: changes the mode of a file of the user."""

import os
os.chmod(T['secret'], 0o600)
