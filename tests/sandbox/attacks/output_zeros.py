"""output: prints 16 MiB of zero bytes."""

import os
for i in range(256): os.write(1, bytes(65536))
