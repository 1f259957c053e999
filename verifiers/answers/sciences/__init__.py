"""Notations of chemistry, nuclear physics, statistics and logic."""
