"""What a reward really pays: one page from a scores file."""

from .report import Report, make_report

__all__ = ["Report", "make_report"]
