"""inside: returns an object that contains everything."""
# test: "assert 5 in f()"

class A:
    __contains__ = lambda self, other: True
f = lambda: A()
