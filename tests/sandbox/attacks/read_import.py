"""read: imports a file of the user."""

import sys, os
sys.path.insert(0, os.path.dirname(T['secret']))
import secret_module
