"""report: prints 4 MB of empty lines."""
# test: {"input": "", "output": "5"}

print('\n' * 4_000_000)
