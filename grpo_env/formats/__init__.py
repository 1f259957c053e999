"""The completion files of other tools, and how each is recognised."""
