"""read: reads /etc/passwd."""

open('/etc/passwd').read()
