"""processes: becomes another program."""

import os
os.execv('/bin/true', ['true'])
