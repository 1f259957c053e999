"""Adapters for other trainers and evaluators, one file for each. None of them is a dependency.

Data sets written for them contain the task's rows (``formats.packed_example``), so that the same text gets the same
reward everywhere.
"""
