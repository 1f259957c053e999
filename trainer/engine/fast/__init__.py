"""Fast paths: what the plain path computes, in less time or memory. Each file can be removed.

``attention`` goes last: all others but ``bf16_adamw`` use it, and ``cuda_graph`` also uses ``layers``. What a file
gains by itself is in its docstring.
"""
