"""read: reads a file of the user through /proc/self/cwd."""

open('/proc/self/cwd/' + '../' * 20 + T['secret']).read()
