"""write: makes a file beside a file of the user."""

open(T['secret'] + '2', 'x')
