"""Our tasks in other trainers and evaluators: a file for each, and none of them is a dependency.

A data set written for one of them carries the task's own rows with it (``examples``), so that every one pays the same
reward for the same text (``verdicts``).
"""
