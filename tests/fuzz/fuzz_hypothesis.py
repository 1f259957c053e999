"""Fuzz the verifiers with texts from the grammar, for as long as you like.

    python tests/fuzz/fuzz_hypothesis.py --minutes 9 --folder build/fuzz

Every finding becomes a JSON file (what broke, with which texts) and the run goes on; the exit status is 1 if there
were any. ``GRPO_ENV_DATA`` may name a folder with real gold answers and completions. Add fixed findings
to a table in ``tests/verifiers/cases``.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import oracles
from findings import Findings
from grammar import ANSWERS, KNOWN, TEXTS, VALUELESS, formula_pairs, hacks, identities, known_pairs, variants
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

PREFILLS = st.sampled_from(["", "", "", "<think>\n"])
CHECKS: list[tuple[Callable[..., None], st.SearchStrategy[tuple[object, ...]]]] = [
    (oracles.everything, st.tuples(st.one_of(KNOWN, ANSWERS), TEXTS, PREFILLS)),
    (oracles.neutral, st.tuples(ANSWERS, TEXTS)),
    (oracles.pair, st.tuples(st.one_of(KNOWN, ANSWERS), st.one_of(KNOWN, ANSWERS))),
    (oracles.truth, known_pairs()),
    (oracles.truth, formula_pairs()),
    (oracles.hack, hacks()),
    (oracles.paths, identities()),
    (oracles.paths, variants()),
    (oracles.universal, st.tuples(st.one_of(VALUELESS, ANSWERS))),
]


def explore(
    check: Callable[..., None], arguments: st.SearchStrategy[tuple[object, ...]], findings: Findings, end: float
) -> None:
    """Run a check on 300 drawn arguments, or up to the time ``end``."""

    @seed(random.getrandbits(64))
    @settings(
        max_examples=300, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(arguments)
    def run(drawn: tuple[object, ...]) -> None:
        if time.monotonic() < end:
            findings.run(check, *drawn)

    run()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    findings = Findings(options.folder)
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        for check, arguments in CHECKS:
            explore(check, arguments, findings, end)
    peak = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{findings.runs} checks, {findings.total} findings; peak MiB here and in the worker: {peak}")
    return int(findings.total > 0)


if __name__ == "__main__":
    sys.exit(main())
