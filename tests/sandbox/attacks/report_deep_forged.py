"""report: reports a deeply nested list."""
# test: "assert f() == []"

import os
def f():
    text = b'[0, ' + b'[' * 10**6 + b']' * 10**6 + b']\n'
    for fd in range(3, 64):
        try: os.write(fd, text)
        except OSError: pass
    os._exit(0)
