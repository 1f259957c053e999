"""verdict: prints and fails."""
# test: {"input": "", "output": "5"}

print(5)
raise ValueError
