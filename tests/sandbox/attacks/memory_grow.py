"""memory: grows until it has 1 GiB."""

x = []
for i in range(1024): x.append(bytearray(1 << 20))
