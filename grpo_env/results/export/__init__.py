"""Scores as rows for other programs: training sets, and records for Inspect."""

from .write import KINDS, ExportSummary, export, export_file, make_kind

__all__ = ["KINDS", "ExportSummary", "export", "export_file", "make_kind"]
