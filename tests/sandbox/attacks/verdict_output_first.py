"""verdict: prints fewer lines than expected."""
# test: {"input": "", "output": "5\n6\n"}

print(5)
