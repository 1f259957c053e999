"""report: raises an error whose own methods never return."""
# test: "assert f(1) == 98765"

class Hostile(Exception):
    def __str__(self):
        while True: pass
    __repr__ = __str__
    __notes__ = property(__str__)
def f(x): raise Hostile
