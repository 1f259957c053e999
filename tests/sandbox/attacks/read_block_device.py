"""read: opens a disk."""

import glob
open((glob.glob('/dev/vd*') + glob.glob('/dev/sd*') + ['/dev/vda'])[0], 'rb').read(1)
