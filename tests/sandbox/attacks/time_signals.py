"""time: ignores all signals and sleeps."""

import signal, time
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(30)
