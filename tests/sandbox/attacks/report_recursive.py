"""report: returns a list that contains itself."""
# test: "assert f() == []"

def f():
    x = []
    x.append(x)
    return x
