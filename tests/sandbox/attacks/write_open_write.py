"""write: opens a file of the user for writing."""

open(T['secret'], 'r+')
