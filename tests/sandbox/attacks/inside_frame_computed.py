"""inside: reads a computed value from the test's frame."""
# test: "expected = sum(range(10))\nassert f() == expected"

import sys
def f(): return sys._getframe(1).f_globals['expected']
