"""Says on the console why rows were rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console

from .input_file import InputFile
from .job import Reject

MAX_PRINTED = 10  # different ones


class Problems:
    """Prints each problem of the rows of ``files`` with the first row that has it, and at the end how many more do."""

    def __init__(self, files: Sequence[InputFile], console: Console) -> None:
        self._places = {file.name: file.place for file in files}
        self._console = console
        self._repeated = Counter[str]()

    def add(self, rejects: Iterable[Reject]) -> None:
        """Print the problems that are new."""
        for reject in rejects:
            if reject.problem in self._repeated:
                self._repeated[reject.problem] += 1
            elif len(self._repeated) < MAX_PRINTED:
                self._repeated[reject.problem] = 0
                self._print(f"{reject.file}, {self._places[reject.file](reject.line)}: {reject.problem}")

    def end(self) -> None:
        """Print how many more rows had the problems that were printed."""
        for problem, more in self._repeated.items():
            if more:
                self._print(f"{more:,} more {'rows' if more > 1 else 'row'}: {problem}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, style="yellow", soft_wrap=True)
