"""read: reads a file of the user."""

open(T['secret']).read()
