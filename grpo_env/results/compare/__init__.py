"""What two scorings of the same completions disagree on."""

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
