"""report: prints 4 MB of zero bytes."""
# test: {"input": "", "output": "5"}

import os
for i in range(60): os.write(1, bytes(65536))
