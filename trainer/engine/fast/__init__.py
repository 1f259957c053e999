"""Fast paths: what the plain path computes, in less time or memory. What a file gains is in its docstring."""
