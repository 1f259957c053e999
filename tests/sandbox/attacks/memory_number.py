"""memory: makes a number of 1 GiB."""

x = 1 << (8 << 30)
