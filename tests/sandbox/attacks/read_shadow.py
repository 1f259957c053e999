"""read: reads the passwords of the system."""

open('/etc/shadow').read()
