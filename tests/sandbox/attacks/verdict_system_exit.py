"""verdict: raises SystemExit in the test."""
# test: "assert f() == 5"
# test: "def check(candidate):\n    assert candidate() == 5\ncheck(f)"

def f(): raise SystemExit(0)
