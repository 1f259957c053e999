"""time: leaves a thread behind that sleeps."""

import threading, time
threading.Thread(target=time.sleep, args=(30,)).start()
import sys; sys.stdout = None
threading._shutdown()
