"""Formulas: one grammar, exact arithmetic, and computer algebra in a process that can be killed."""
