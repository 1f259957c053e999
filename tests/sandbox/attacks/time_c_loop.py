"""time: computes in C past its limit."""

x = 9 ** 9 ** 9
