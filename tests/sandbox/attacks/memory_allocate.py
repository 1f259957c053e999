"""memory: allocates 2 GiB."""

x = bytearray(2 << 30)
