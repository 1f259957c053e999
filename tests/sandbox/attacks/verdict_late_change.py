"""verdict: changes the value that it returned while that is read."""
# test: {"call": "f", "args": [1], "output": 98765}
# test: "assert f(1) == [98765]"

import threading
value = [[0] for _ in range(200_000)]
def change():
    while True: value[:] = [98765]
def f(x):
    threading.Thread(target=change, daemon=True).start()
    return {'late': value}
