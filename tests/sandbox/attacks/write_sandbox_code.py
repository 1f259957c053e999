"""write: changes the code of the sandbox."""

import glob, sys
open(T['code'], 'r+')
