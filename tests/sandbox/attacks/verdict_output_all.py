"""verdict: prints every number."""
# test: {"input": "", "output": "5"}

for i in range(100): print(i)
