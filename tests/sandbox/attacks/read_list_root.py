"""read: lists the root's home."""

import os
os.listdir('/root')
