"""disk: makes 100,000 files."""

for i in range(100000): open(str(i), 'w').close()
