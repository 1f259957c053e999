"""Records what a fuzzer finds: a JSON file per finding, few of each kind, each made as small as possible."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import oracles

MOST_OF_A_KIND = 5
SECONDS_PER_FINDING = 10  # to make it smaller


class Findings:
    """Runs checks, records what they find in ``folder``, and goes on. ``replay.py`` repeats a finding."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = 0
        self._kinds: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def total(self) -> int:
        """How many findings there were, the unwritten ones included."""
        return self._kinds.total()

    def run(self, check: Callable[..., None], *arguments: object) -> None:
        """Run one check; a finding is made smaller and recorded."""
        self.runs += 1
        try:
            check(*arguments)
        except oracles.FindingError as finding:
            kind = re.sub(r"[\d.]+|'.*?'", "#", f"{finding.check} {finding.detail}")[:60]
            self._kinds[kind] += 1
            if self._kinds[kind] <= MOST_OF_A_KIND:
                self._record(check, arguments, finding)

    def _record(self, check: Callable[..., None], arguments: tuple[object, ...], finding: oracles.FindingError) -> None:
        keep = finding.check in ("cpu", "wall") or check in (oracles.truth, oracles.hack, oracles.paths)
        small = arguments if keep else minimal(check, finding.check, arguments)
        row = {"check": finding.check, "with": check.__name__, "arguments": small, "detail": finding.detail}
        text = json.dumps(row, indent=1) + "\n"
        name = f"{check.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
        (self.folder / name).write_text(text)


def minimal(check: Callable[..., None], kind: str, arguments: tuple[object, ...]) -> tuple[object, ...]:
    """The arguments with every piece left out that the finding does not need, as far as the time suffices."""
    end = time.monotonic() + SECONDS_PER_FINDING

    def still(candidate: tuple[object, ...]) -> bool:
        try:
            check(*candidate)
        except oracles.FindingError as finding:
            return finding.check == kind
        return False

    for position, text in enumerate(arguments):
        if not isinstance(text, str):
            continue
        size = max(1, len(text) // 2)
        while size:
            at = 0
            while at < len(text) and time.monotonic() < end:
                shorter = text[:at] + text[at + size :]
                candidate = (*arguments[:position], shorter, *arguments[position + 1 :])
                if still(candidate):
                    text, arguments = shorter, candidate
                else:
                    at += size
            size //= 2
    return arguments
