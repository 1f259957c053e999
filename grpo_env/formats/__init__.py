"""Formats of completion files: our own and those of other tools, one module each, and the detection of a file's format."""
