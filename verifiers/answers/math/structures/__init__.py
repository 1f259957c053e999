r"""Answers whose form says how they are compared: general solutions, several equations.

These are looked at only where the ordinary comparison has not said that an answer is right.
"""
