"""write: links a file of its own beside a file of the user."""

import os
open('x', 'w')
os.link('x', T['secret'] + '2')
