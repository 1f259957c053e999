"""read: finds the job of the supervisor in its own memory."""

import gc
assert any(isinstance(o, dict) and 'readable' in o and 'runs' in o and len(o['runs']) > 99999 for o in gc.get_objects())
