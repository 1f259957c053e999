"""report: returns a dict with many NaNs as keys."""
# test: "assert f(1) == 98765"

f = lambda x: {float('nan'): {float('inf'): n} for n in range(5000)}
