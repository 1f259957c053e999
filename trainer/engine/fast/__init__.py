"""Fast paths: what the plain path computes, in less time or memory. Each file can be removed.

``attention`` goes last: all others use it. What a file gains by itself is in its docstring.
"""
