"""Says on the console why rows were rejected, and which groups were scored in pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console

from grpo_env.plural import counted

from .input_file import InputFile
from .job import Reject

MAX_PRINTED = 10  # different ones


class Problems:
    """Prints each problem of the rows of ``files`` with the first row that has it, and at the end how many more do.

    Prints also how many of the groups that were added have rows that are not adjacent.
    """

    def __init__(self, files: Sequence[InputFile], console: Console) -> None:
        self._places = {file.name: file.place for file in files}
        self._console = console
        self._repeated = Counter[str]()
        self._groups = set[int]()  # hashes, as keys may be long
        self._last: tuple[str, str] | None = None
        self._in_pieces: dict[tuple[str, str], None] = {}

    def add_groups(self, groups: Iterable[tuple[str, str]]) -> None:
        """Count groups (file and key), in the order of their rows, that were added before and have ended since."""
        for group in groups:
            if group != self._last and hash(group) in self._groups:
                self._in_pieces[group] = None
            self._groups.add(hash(group))
            self._last = group

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
        if self._in_pieces:
            file, key = next(iter(self._in_pieces))
            self._print(
                f"{counted(len(self._in_pieces), 'group')} with rows that are not adjacent, such as {key!r:.60} in "
                f"{file}: each piece was scored as a group; sort the rows by their group and score again"
            )

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, style="yellow", soft_wrap=True)
