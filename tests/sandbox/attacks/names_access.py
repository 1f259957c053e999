"""names: learns whether it may read a file of the user."""

import os
assert os.access(T['secret'], os.F_OK)
