"""Matplotlib figures without a window system: one style for every picture that the package draws."""

from __future__ import annotations

from typing import Any


def new_figure(width: float, height: float, *, constrained: bool = True) -> Any:
    """An empty figure of so many inches that can be saved as PNG."""
    # Late, because drawing is rare and matplotlib slow to import; without pyplot, so that no window system is asked.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained" if constrained else None)
    FigureCanvasAgg(figure)
    return figure
