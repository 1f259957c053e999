"""report: raises an error with a message of 50 MB."""
# test: "assert f(1) == 98765"

def f(x): raise ValueError('x' * 50_000_000)
