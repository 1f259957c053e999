"""The attacks on the sandbox: what each mode prevents is what the page says."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from grpo_env.core import Completion, Example
from grpo_env.verifiers.python_tests import PythonTests
from grpo_env.verifiers.sandbox.launch import unavailable

sys.path.insert(0, str(Path(__file__).parent))
from harness import SCORED, as_nobody, attacks, brief, broken, credited
from table import PAGE, PROMISES, RESULTS, page, table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has seccomp")
EXPECTED: dict[str, dict[str, str]] = json.loads(RESULTS.read_text())


def expected(mode: str, scored: bool) -> set[str]:
    return {name for name in EXPECTED[mode] if (name.split("_")[0] in SCORED) == scored}


@pytest.mark.slow
def test_attacks_in_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := unavailable("bubblewrap"):
        pytest.skip(reason)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert broken("bubblewrap", attacks()).keys() == expected("bubblewrap", scored=False)


@pytest.mark.slow
def test_attacks_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a user without privileges, if these tests are run by one who has them."""
    if reason := unavailable("process"):
        pytest.skip(reason)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    nobody = os.getuid() == 0 and shutil.which("setpriv")
    broken_promises = as_nobody("process", "brief") if nobody else broken("process", brief(attacks()))
    assert broken_promises.keys() == expected("process", scored=False)


@pytest.mark.slow
def test_attacks_on_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := unavailable("process"):
        pytest.skip(reason)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert credited("process", attacks()).keys() == expected("process", scored=True)
    assert list(tmp_path.iterdir()) == []


def test_reports_cost_the_scoring_process_nothing() -> None:
    """Colliding numbers took it 95 s, past every deadline. Processor time, so that a busy machine changes nothing."""
    if reason := unavailable("process"):
        pytest.skip(reason)
    start = time.process_time()
    assert credited("process", [attack for attack in attacks() if attack.name.startswith("report_colliding")]) == {}
    assert time.process_time() - start < 2


def test_the_page_has_the_table_of_the_results() -> None:
    assert page(PAGE.read_text(), table(EXPECTED, attacks())) == PAGE.read_text(), "run make attacks"


def test_every_attack_names_a_promise() -> None:
    assert {attack.promise for attack in attacks()} == set(PROMISES)
    for attack in attacks():
        assert bool(attack.tests) == (attack.promise in SCORED), attack.name
        assert attack.name.startswith(f"{attack.promise}_")


CORRECT: dict[str, list[Any]] = {
    "from decimal import Decimal\nf = lambda: Decimal('1.50')": [
        "from decimal import Decimal\nassert f() == Decimal('1.5')",
        "assert f() == 1.5",
        "import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(), 1.5)",
    ],
    "from fractions import Fraction\nf = lambda: Fraction(2, 6)": [
        "from fractions import Fraction\nassert f() == Fraction(1, 3)"
    ],
    "import datetime\nf = lambda: datetime.datetime(2020, 1, 1)": [
        "import datetime as dt\nassert f() == dt.datetime(2020, 1, 1, 0)",
        "from datetime import date\nassert f() != date(2020, 1, 1)",
    ],
    "from collections import deque, Counter\nf = lambda x: deque([x])\ng = lambda t: Counter(t)": [
        "from collections import deque\nassert f(1) == deque((1,))",
        "from collections import Counter\nassert g('aab') == Counter('baa')",
        "assert g('aab').keys() == {'a', 'b'}",
    ],
    "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x\nf = P": [
        "assert f(1) == f(1)\nassert f(1) != f(2)"
    ],
    "def f(n): return [n, {'a': (1, None)}, {2.0, True}]": [
        "assert f(1) == [1, {'a': (1, None)}, {1, 2}]",
        "def check(candidate):\n    for n in range(3):\n        "
        "assert candidate(n)[0] == n\n    assert candidate(5)[0] == 5",
        {"call": "f", "args": [0], "output": [0, {"a": [1, None]}, 0]},
    ],
    "def f(n):\n    if n < 0: raise ValueError('negative')\n    return n": [
        "try:\n    f(-1)\nexcept ValueError as error:\n    assert str(error) == 'negative'\nelse:\n    assert False",
        "import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n"
        "        with self.assertRaises(ValueError):\n"
        "            f(-1)\n            self.assertEqual(f(1), 2)\n        self.assertEqual(f(1), 1)",
        "def test_f():\n    if f(1) == 2:\n        assert f(1) == 3\n    assert f(1) == 1",
    ],
}
WRONG = {(5, 2)}  # of program 5 the test 2: a set is no number


def test_correct_programs_pass() -> None:
    for number, (code, tests) in enumerate(CORRECT.items()):
        for index, test in enumerate(tests):
            example = Example("x", info={"tests": [test], "entry": "f"})
            verifier = PythonTests(isolation="process", entry_point="entry")
            score = verifier(example, Completion(f"```python\n{code}\n```"))
            assert score.value == float((number, index) not in WRONG), (test, score)
