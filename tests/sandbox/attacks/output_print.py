"""output: prints without end."""

for i in range(10**6): print('x' * 10**4)
