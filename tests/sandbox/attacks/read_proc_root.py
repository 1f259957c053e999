"""read: reads a file of the user through its own root in /proc."""

open('/proc/self/root' + T['secret']).read()
