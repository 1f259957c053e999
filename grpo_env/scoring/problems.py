"""Says on the console why rows were rejected, and which groups are not together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console

from grpo_env.plural import counted
from grpo_env.terminal import escape_controls

from .input_file import InputFile
from .job import KeyedGroup, Reject

MAX_PRINTED = 10  # different ones
MAX_KEYS = 1_000_000  # of groups that are remembered, so that memory does not grow with the input


def warn(console: Console, line: str) -> None:
    """Print a line on which something is to be done; texts of files in it cannot steer the terminal."""
    console.print(escape_controls(line), style="yellow", soft_wrap=True)


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
                warn(self._console, f"{reject.file}, {self._places[reject.file](reject.line)}: {reject.problem}")

    def end(self) -> None:
        """Print how many more rows had the problems that were printed."""
        for problem, more in self._repeated.items():
            if more:
                warn(self._console, f"{counted(more, 'more row')}: {problem}")


class ReturningGroups:
    """Notices groups of ``files`` that go on after rows of another group: only adjacent rows are scored as one.

    It prints the first one, and knows what this run has scored, not what an interrupted one had before.
    """

    def __init__(self, files: Sequence[InputFile], console: Console) -> None:
        self.count = 0
        self._places = {file.name: file.place for file in files}
        self._console = console
        self._lines: dict[tuple[str, str], int] = {}  # of the rows with which groups began
        self._last: tuple[str, str] | None = None

    def add(self, groups: Iterable[KeyedGroup]) -> None:
        """Note groups, in the order of the file."""
        for file, key, line in groups:
            group = (file, key)
            if group != self._last and group in self._lines:
                self.count += 1
                if self.count == 1:
                    self._print(file, key, self._lines[group], line)
            elif len(self._lines) < MAX_KEYS:
                self._lines.setdefault(group, line)
            self._last = group

    def _print(self, file: str, key: str, start: int, line: int) -> None:
        place = self._places[file]
        warn(
            self._console,
            f"{file}, {place(line)}: the group {key!r:.60}, which began at {place(start)}, goes on after rows of "
            "another group: only adjacent rows are one group in advantages, verifiers of groups, reports and exports. "
            "Sort the rows by group, unless another --group was meant",
        )
