"""report: reports values of wrong shapes."""
# test: "assert f() == 5"

import os
def f():
    for fd in range(3, 64):
        try: os.write(fd, b'5\n[]\n[0]\n[0, {}]\n[0, {"set": 5}]\n[0, {"dict": [1]}]\n[0, {"bytes": []}]\n[null, 1]\n[99, 1]\n[-1, 1]\n[0, {"date": 5}]\n\xff\n[0, {"decimal": [[], {}, []]}]\n[0, {"tuple": "abc"}]\n[0, {"fraction": {}}]\n[0, {"deque": null}]\n')
        except OSError: pass
    os._exit(0)
