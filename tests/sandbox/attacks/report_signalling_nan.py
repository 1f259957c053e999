"""report: returns a NaN that raises when it is compared."""
# test: "assert f(1) == 98765"

from decimal import Decimal
f = lambda x: [Decimal('sNaN'), {Decimal('1e999999999')}]
