"""write: moves its own folder away."""

import os
os.rename(os.getcwd(), os.path.dirname(T['secret']) + '/moved')
