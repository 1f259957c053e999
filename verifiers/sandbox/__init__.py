"""Running a program that nobody has read: the process it runs in, what it is confined to, and its unit tests."""
