"""memory: makes a deeply nested value."""

x = ()
for i in range(10**7): x = (x,)
x == x
