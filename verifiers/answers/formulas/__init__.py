"""Formulas: one grammar, exact arithmetic, residues, matrices, and computer algebra in a process that can be killed."""
