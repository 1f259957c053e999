"""The journal of a run: each row of its metrics is written, shown, tracked, and looked at for what goes wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .alerts import warnings
from .console import Report
from .folder import RunFiles
from .trackers import finish_tracker, track


class MetricsLogger:
    """Takes the rows of a run, from where its files end; ``tracker`` is that of ``start_tracker``."""

    def __init__(self, files: RunFiles, report: Report, tracker: Any | None) -> None:
        self._files, self._report, self._tracker = files, report, tracker
        past = files.metrics()
        self._steps = [row for row in past if row["kind"] == "train"]
        self._began = time.monotonic() - (past[-1]["seconds"] if past else 0.0)
        report.recall(past)

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a row, with the seconds since the run began, and after a training row the warnings that it gives."""
        written = self._files.record({**row, "seconds": time.monotonic() - self._began})
        self._report.show(written)
        track(self._tracker, written)
        if written["kind"] == "train":
            self._steps.append(written)
            for warning in warnings(self._steps):
                self.write(warning)

    def close(self) -> None:
        """Let go of the terminal and the tracker."""
        self._report.close()
        finish_tracker(self._tracker)
