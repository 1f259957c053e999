"""network: makes a pipe with a name."""

import os
os.mkfifo('x')
