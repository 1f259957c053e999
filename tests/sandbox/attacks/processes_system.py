"""processes: starts a shell."""

import os
assert os.system('true') == 0
