"""Matplotlib figures: one place that creates them, and one style for the whole package."""

from __future__ import annotations

from typing import Any

COLORS = ("#0067a5", "#c2570c", "#7a7d84", "#8a4f9e", "#b5b7bb")  # as in results/report/templates/style.css


def new_figure(width: float, height: float, *, constrained: bool = True) -> Any:
    """An empty figure, sizes in inches, that can be saved as PNG without a display."""
    # Imported here because matplotlib is slow to import; without pyplot, which would look for a display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained" if constrained else None)
    FigureCanvasAgg(figure)
    return figure


def style_axes(axes: Any, title: str = "", x_label: str = "", *, grid: bool = True) -> None:
    """The title, axis label, frame and grid that all charts share."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x_label, fontsize=9)
    for spine in ("top", "right"):
        axes.spines[spine].set_visible(False)
    if grid:
        axes.grid(alpha=0.3)
