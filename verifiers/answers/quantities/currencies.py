"""Currencies that stand beside amounts in GSM8K, SVAMP, MultiArith and MATH, and the signs of others."""

from __future__ import annotations

# A unit is named by its first spelling.
_TABLE = """
$ usd dollar dollars buck bucks us$
€ eur euro euros
£ gbp quid
¥ jpy yen
yuan cny rmb
₹ inr rupee rupees rs
¢ cent cents
"""

_LINES = [line.split() for line in _TABLE.strip().splitlines()]
SIGNS = "$€£¥₹₽₩₱₺₪₫₦฿"
SIGN = rf"(?:(?i:us)[$]|[{SIGNS}])"
"""A regular expression of the signs."""
ISO = r"(?:(?i:usd|eur|gbp|jpy|cny|inr|chf|aud|cad))"
"""A regular expression of the codes."""
WORD = r"(?i:usd|eur|gbp|dollars?|bucks?|euros?|rupees?|yen|yuan|rmb)\b"
"""A regular expression of the codes and of the names of one word."""
UNITS = {name: names[0] for names in _LINES for name in names} | {sign: sign for sign in SIGNS}
"""The name of a currency as a unit, by its codes, its signs and its names of one word."""
