"""processes: forks with a terminal."""

import pty
if not pty.fork()[0]: import os; os._exit(0)
