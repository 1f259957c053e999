"""report: returns an object whose class lies about its bases."""
# test: "assert f() == 5"

class M(type):
    __mro__ = property(lambda cls: (int,))
class A(metaclass=M): pass
f = lambda: A()
