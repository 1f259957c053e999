"""Reading formulas: our grammar and latex2sympy, whose objects should be the same.

    python benchmarks/reading.py

The formulas are the gold answers in the tables of our tests that the algebra worker would read. Each side reads each
once, in the same process, after one formula that builds the tables of latex2sympy's parser. The other objects are of
formulas that latex2sympy does not read, or reads as something else (``I``, ``\\gamma``, ``d\\sin\\theta``, all of which
the worker spells in another way for it), and of decimals, which it works out.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from grpo_env.verifiers.answers.extract import answer_in
from grpo_env.verifiers.answers.math import algebra_worker
from grpo_env.verifiers.answers.math.parse import parse
from grpo_env.verifiers.answers.math.parsed import Formula
from grpo_env.verifiers.answers.math.sympy_reader import read_formula
from grpo_env.verifiers.answers.quantities.number import OverLimitError

CASES = Path(__file__).parent.parent / "tests/verifiers/cases"


def formulas() -> list[str]:
    golds = {json.loads(line).get("gold") or "" for path in CASES.rglob("*.jsonl") for line in path.open()}
    found = set()
    for gold in golds:
        try:
            contents = [parse(text).content for text in answer_in(gold).answers]
        except OverLimitError:
            continue
        found |= {content.text for content in contents if isinstance(content, Formula)}
    return sorted(found)


def timed(read: Any, text: str) -> tuple[Any, float]:
    start = time.process_time()
    try:
        value = read(text)
    except Exception:  # latex2sympy has no other
        value = None
    return value, time.process_time() - start


def main() -> None:
    algebra_worker._parsed("x", is_complex=False)
    read, same, ours, theirs = 0, 0, 0.0, 0.0
    texts = formulas()
    for text in texts:
        mine, seconds = timed(lambda text: read_formula(text, is_real=True), text)
        if mine is None:
            continue
        read += 1
        ours += seconds
        other, seconds = timed(lambda text: algebra_worker._parsed(text, is_complex=False), text)
        theirs += seconds
        same += other is not None and mine == algebra_worker._exact(other)
    print("| formulas | the grammar reads | same objects | ours, ms each | latex2sympy, ms each | ratio |")
    print("|---" * 6 + "|")
    print(
        f"| {len(texts):,} | {read:,} | {same:,} | {1000 * ours / read:.2f} | {1000 * theirs / read:.2f} | "
        f"{theirs / ours:.0f} |"
    )


if __name__ == "__main__":
    main()
