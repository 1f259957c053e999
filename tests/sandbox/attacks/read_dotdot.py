"""read: reads a file of the user by a path with dots."""

import os
open('../' * 20 + T['secret']).read()
