"""Answers in words: names, and the same in another construction."""
