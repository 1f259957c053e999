"""read: lists the folder of a file of the user."""

import os
os.listdir(os.path.dirname(T['secret']))
