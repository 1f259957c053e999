"""verdict: prints and never ends."""
# test: {"input": "", "output": "5"}

print(5, flush=True)
while True: pass
