"""time: hashes numbers that collide."""

x = {k * (2**61 - 1) for k in range(200000)}
