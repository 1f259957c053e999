"""Where two scorings of the same completions differ."""

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
