"""A report on a reward: one page from a scores file."""

from .page import render
from .report import Report, make_report

__all__ = ["Report", "make_report", "render"]
