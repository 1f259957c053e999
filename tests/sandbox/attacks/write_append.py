"""write: opens a file of the user for appending."""

open(T['secret'], 'a')
