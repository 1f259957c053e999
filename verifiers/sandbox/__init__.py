"""Runs untrusted programs: the process they run in, its limits and isolation, and their unit tests."""
