"""write: changes the interpreter's own library."""

import os
open(os.__file__, 'r+')
