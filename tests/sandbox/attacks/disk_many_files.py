"""disk: writes 64 MiB in four files."""

for i in range(4): open(str(i), 'wb').write(bytes(16 << 20))
import time
time.sleep(.15)
