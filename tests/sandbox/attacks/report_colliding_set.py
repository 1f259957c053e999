"""report: returns a set of colliding numbers."""
# test: "assert f() == {1, 2}"

f = lambda: {k * (2**61 - 1) for k in range(3000)}
