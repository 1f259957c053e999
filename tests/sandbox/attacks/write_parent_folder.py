"""write: writes to the folder above its own."""

open('../x', 'w')
