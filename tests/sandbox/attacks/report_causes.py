"""report: raises an error with a thousand causes in a circle of groups."""
# test: "assert f(1) == 98765"

def f(x):
    error = ValueError(0)
    for number in range(1000):
        try: raise ExceptionGroup('g' * 100, [error, ValueError(number)]) from error
        except ExceptionGroup as group: error = group
    raise error
