"""Codes, which are compared as text: which texts are codes, and what may differ between two spellings of one."""
