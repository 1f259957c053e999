"""report: returns a list and a dict whose own iterators never end."""
# test: "assert f(1) == 98765"
# test: "assert f(2) == {1: 98765}"

import itertools
class Long(list):
    __iter__ = lambda self: itertools.repeat(98765)
    __len__ = lambda self: 2**62
class Wide(dict):
    items = lambda self: itertools.repeat((1, 98765))
    __iter__ = keys = lambda self: itertools.repeat(1)
f = lambda x: Long([1]) if x == 1 else Wide({1: 2})
