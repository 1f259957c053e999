"""Dates, times of day, opening hours and frequencies."""
