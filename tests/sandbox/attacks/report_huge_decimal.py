"""report: returns a Decimal with a huge exponent."""
# test: "assert f() == 5"

from decimal import Decimal
f = lambda: Decimal('1e999999')
