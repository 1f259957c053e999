"""Scores completions in files: rows in, score rows out, in order, on all cores; a bad row does not stop the others.

``score_files`` is the command ``grpo_env score``; ``score_records`` yields the scores themselves.
"""

from .columns import Fields, select
from .files import Options, score_files
from .resume import OutputFile
from .score_row import score_row
from .scorer import RowResult, score_records
from .summary import ScoreSummary

__all__ = [
    "Fields",
    "Options",
    "OutputFile",
    "RowResult",
    "ScoreSummary",
    "score_files",
    "score_records",
    "score_row",
    "select",
]
