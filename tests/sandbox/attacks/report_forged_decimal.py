"""report: reports a Decimal with a huge exponent."""
# test: "assert f() == 5"

import os
def f():
    for fd in range(3, 64):
        try: os.write(fd, b'[0, {"decimal": [0, "1", 99999999999]}]\n')
        except OSError: pass
    os._exit(0)
