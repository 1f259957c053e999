"""processes: starts a program by subprocess."""

import subprocess
subprocess.run(['true'], check=True)
