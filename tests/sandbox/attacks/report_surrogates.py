"""report: returns broken characters."""
# test: "assert f() == 'x'"

f = lambda: '\ud800' * 1000
