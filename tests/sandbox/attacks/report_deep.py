"""report: returns a deeply nested list."""
# test: "assert f() == []"

def f():
    x = []
    for i in range(10**5): x = [x]
    return x
