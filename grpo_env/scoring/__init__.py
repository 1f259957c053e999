"""Scores files of completions: rows in, rows out, in order, on all cores, with no row able to stop the rest.

``score_files`` is the command ``grpo_env score``; ``score_records`` gives the scores themselves.
"""

from .fields import Fields, select
from .run import Options, score_files
from .score_row import output_row
from .scorer import Scored, score_records, score_rows
from .summary import ScoreSummary

__all__ = [
    "Fields",
    "Options",
    "ScoreSummary",
    "Scored",
    "output_row",
    "score_files",
    "score_records",
    "score_rows",
    "select",
]
