"""processes: asks for the session of a process of the user."""

import os
os.getsid(T['pid'])
