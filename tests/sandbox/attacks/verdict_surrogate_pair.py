"""verdict: returns two halves of a character for the character."""
# test: "assert f() == '\ud800\udfff'"
# test: {"call": "f", "args": [], "output": "\ud800\udfff"}

f = lambda: '\ud800' + '\udfff'
