"""Look for texts on which a verifier takes more than linear time.

    python tests/fuzz/linear.py --minutes 5 --findings /tmp/slow.jsonl

Texts are a few words of the grammar, repeated, with others before and after. A verifier's own processor time is
taken at 20 kB and at 80 kB; where it is more than 8 times as much, or 1 MB would take more than 1 s, it is measured at
250 kB and 1 MB. Answers are shorter than that by a cap, so accuracy also gets the text in a box, at 350 and 1,400
characters, where more than 60 ms is a finding.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import oracles
from grammar import ATOMS, MARKERS, TEMPLATES, fill

from grpo_env.core import Completion, Example, Verifier

TOKENS = [*ATOMS, *MARKERS]
EXAMPLE = Example("x", answer="18", info=oracles.INFO)


def seconds(verifier: Verifier, text: str) -> float:
    """Processor time of this thread for one score, the better of two."""
    times = []
    for _ in range(2):
        start = time.thread_time()
        verifier(EXAMPLE, Completion(text, num_tokens=len(text) // 4))
        times.append(time.thread_time() - start)
        if times[0] < 0.01:
            break
    return min(times)


class Pattern:
    """Words before, repeated words, words after."""

    def __init__(self, chance: random.Random) -> None:
        def some(most: int) -> str:
            return "".join(chance.choice(TOKENS) for _ in range(chance.randint(0, most)))

        self.before, self.after = some(2), some(2)
        self.unit = chance.choice(TOKENS) + some(2)
        if chance.random() < 0.2:
            self.unit = fill(chance.choice(TEMPLATES), [self.unit])

    def text(self, length: int) -> str:
        return self.before + self.unit * (length // len(self.unit)) + self.after


def suspect(verifier: Verifier, pattern: Pattern) -> dict[str, float] | None:
    """Times by length, if they are too long."""
    short, long = (seconds(verifier, pattern.text(length)) for length in (20_000, 80_000))
    if long < 0.02 or (long / short < 8 and long < 0.08):
        return None
    short, long = (seconds(verifier, pattern.text(length)) for length in (250_000, 1_000_000))
    return {"250 kB": short, "1 MB": long} if long > 1 and (long / short > 8 or long > 2) else None


def in_a_box(pattern: Pattern) -> dict[str, float] | None:
    short, long = (seconds(oracles.ACCURACY, oracles.boxed(pattern.text(length))) for length in (350, 1400))
    return {"350": short, "1400": long} if long > 0.06 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--findings", type=Path, default=Path("slow.jsonl"))
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    chance, end, count = random.Random(arguments.seed), time.monotonic() + 60 * arguments.minutes, 0
    verifiers = {"accuracy": oracles.ACCURACY, **oracles.LEAVES}
    while time.monotonic() < end:
        pattern = Pattern(chance)
        count += 1
        times_by_name = {"in a box": in_a_box(pattern)}
        times_by_name |= {name: suspect(verifier, pattern) for name, verifier in verifiers.items()}
        for name, times in times_by_name.items():
            if times:
                row = {"verifier": name, "before": pattern.before, "unit": pattern.unit, "after": pattern.after}
                with arguments.findings.open("a") as file:
                    print(json.dumps({**row, **times}), file=file)
    print(f"{count} patterns")


if __name__ == "__main__":
    main()
