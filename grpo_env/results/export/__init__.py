"""Scores as rows that other programs read: training sets and records."""

from .write import KINDS, Exported, described, export, export_file, make_kind

__all__ = ["KINDS", "Exported", "described", "export", "export_file", "make_kind"]
