"""Formats of completion files, our own and those of other tools: a module for each, and their detection."""
