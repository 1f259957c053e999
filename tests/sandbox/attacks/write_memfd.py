"""write: makes memory that no file system counts."""

import os
os.memfd_create('x')
