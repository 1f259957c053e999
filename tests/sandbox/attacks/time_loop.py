"""time: loops past its limit."""

import time
end = time.monotonic() + 30
while time.monotonic() < end: pass
