"""Environments of several turns: the user's class, its tools, calls in a model's text, and the episode they make."""
