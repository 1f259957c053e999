"""How often a task's metric is wrong: a stratified sample, its labels, and the error rates that they imply."""

from .label_file import ask, read_labels
from .rates import Calibration, calibrate
from .sample import draw, labeled_rows

__all__ = ["Calibration", "ask", "calibrate", "draw", "labeled_rows", "read_labels"]
