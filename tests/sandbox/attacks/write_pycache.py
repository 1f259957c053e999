"""write: leaves a compiled file beside the library."""

import os
open(os.path.dirname(os.__file__) + '/__pycache__/x.pyc', 'w')
