"""time: sleeps when it ends."""

import atexit, time
atexit.register(time.sleep, 30)
atexit._run_exitfuncs()
