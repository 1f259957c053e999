"""verdict: prints more lines than expected."""
# test: {"input": "", "output": "5\n"}

print(5)
print(6)
