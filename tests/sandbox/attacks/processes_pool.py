"""processes: starts a pool of processes."""

from concurrent.futures import ProcessPoolExecutor as P
assert list(P(1).map(abs, [-1])) == [1]
