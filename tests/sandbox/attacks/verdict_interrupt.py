"""verdict: raises what ends or cancels a caller."""
# test: "assert f(1) == 98765"
# test: "def check(candidate):\n    assert candidate(1) == 98765\n    assert candidate(2) == 98766\ncheck(f)"
# test: {"call": "f", "args": [1], "output": 98765}

import asyncio
kinds = [KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, StopIteration]
def f(x): raise kinds[x % 4]
