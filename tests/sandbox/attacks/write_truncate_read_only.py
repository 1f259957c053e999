"""write: truncates a file that it may read, by O_RDONLY | O_TRUNC."""

import os
open('x', 'w').write('x')
os.open('x', os.O_RDONLY | os.O_TRUNC)
