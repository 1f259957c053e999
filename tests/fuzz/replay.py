"""Repeat findings of the fuzzers: ``python tests/fuzz/replay.py build/fuzz/NAME.json``; fails while they are there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import input_files
import oracles


def main() -> int:
    still_there = 0
    for path in map(Path, sys.argv[1:]):
        row = json.loads(path.read_text())
        check = getattr(oracles, row["with"], None) or getattr(input_files, row["with"])
        try:
            check(*row["arguments"])
        except oracles.FindingError as finding:
            still_there += 1
            print(f"{path}: {finding}")
        else:
            print(f"{path}: not found any more")
    return int(still_there > 0)


if __name__ == "__main__":
    sys.exit(main())
