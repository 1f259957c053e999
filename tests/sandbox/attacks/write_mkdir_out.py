"""write: makes a folder beside a file of the user."""

import os
os.mkdir(T['secret'] + '2')
