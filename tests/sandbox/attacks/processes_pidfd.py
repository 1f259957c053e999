"""processes: ends a process of the user by a descriptor."""

import os, signal
signal.pidfd_send_signal(os.pidfd_open(T['pid']), 9)
