"""verdict: returns True for 2."""
# test: {"call": "f", "args": [1], "output": 2}

def f(x): return True
