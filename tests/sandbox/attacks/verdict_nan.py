"""verdict: returns a NaN for a NaN, which no value equals."""
# test: "assert f() == float('nan')"

f = lambda: float('nan')
