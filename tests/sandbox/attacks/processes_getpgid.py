"""processes: asks for the group of a process of the user."""

import os
os.getpgid(T['pid'])
