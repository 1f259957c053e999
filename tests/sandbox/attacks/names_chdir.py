"""names: enters a folder of the user."""

import os
os.chdir(os.path.dirname(T['secret']))
