"""The metrics of a run: each row is written to the run folder, shown, sent to the tracker and checked for alerts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .alerts import warnings
from .console import RunConsole
from .folder import RunFiles
from .trackers import finish_tracker, track


class MetricsLogger:
    """Logs the rows of a run, after those that its files hold already; ``tracker`` is that of ``start_tracker``."""

    def __init__(self, files: RunFiles, console: RunConsole, tracker: Any | None) -> None:
        self._files, self._console, self._tracker = files, console, tracker
        earlier = files.metrics()
        self._train_rows = [row for row in earlier if row["kind"] == "train"]
        self._start = time.monotonic() - (earlier[-1]["seconds"] if earlier else 0.0)
        console.restore(earlier)

    def write(self, row: Mapping[str, Any]) -> None:
        """Log a row with the seconds since the run began and, after a training row, the alerts that it raises."""
        written = self._files.record({**row, "seconds": time.monotonic() - self._start})
        self._console.show(written)
        track(self._tracker, written)
        if written["kind"] == "train":
            self._train_rows.append(written)
            for warning in warnings(self._train_rows):
                self.write(warning)

    def close(self) -> None:
        """Release the terminal and finish the tracker."""
        self._console.close()
        finish_tracker(self._tracker)
