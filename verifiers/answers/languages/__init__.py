"""Answers in other languages than English: their numbers, times and words."""
