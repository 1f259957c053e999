"""report: returns a small value that is huge once it is written out."""
# test: "assert f(1) == 98765"

def f(x):
    value = 'x' * 1000
    for _ in range(60): value = [value, value]
    return value
