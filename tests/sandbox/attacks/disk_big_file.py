"""disk: writes a file of 20 MiB."""

open('x', 'wb').write(bytes(20 << 20))
