"""Unit tests that a wrong program passes are named, with a call that tells; tests that tell are not."""

import json
import subprocess
import sys

import pytest
import yaml

from grpo_env.check import check
from grpo_env.check.test_strength import MUTANTS, mutants
from grpo_env.taskfile.task import load_task

WEAK = {  # one assert each, as MBPP-like sets that were written in haste have
    "mul": ("def mul(a, b):\n    return a * b", "assert mul(2, 2) == 4"),
    "square": ("def square(n):\n    return n ** 2", "assert square(2) == 4"),
    "largest": ("def largest(items):\n    return sorted(items)[len(items) - 1]", "assert largest([7]) == 7"),
    "is_adult": ("def is_adult(age):\n    return age >= 18", "assert is_adult(30) == True"),
    "total": ("def total(n):\n    t = 0\n    for i in range(n):\n        t += i\n    return t", "assert total(1) == 0"),
    "both": ("def both(a, b):\n    return a and b", "assert both(True, True) == True"),
}
STRONG = {
    "mul": (WEAK["mul"][0], ["assert mul(2, 3) == 6", "assert mul(7, 5) == 35", "assert mul(-4, 3) == -12"]),
    "is_adult": (WEAK["is_adult"][0], [f"assert is_adult({n}) == {n >= 18}" for n in (0, 17, 18, 19, 40)]),
    "equal": ("def same(a, b):\n    return a + b == b + a", ["assert same(1, 2) == True"]),
}


def checked(folder, tasks, answer="{{ code }}"):
    rows = [
        {"question": f"Write {name}, number {n}.", "code": f"```python\n{code}\n```", "tests": tests}
        for n, (name, (code, tests)) in enumerate(tasks.items())
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = {
        "version": 1,
        "task": "own",
        "dataset": {"path": "rows.jsonl", "split": {"train": 1.0}, "answer": answer},
        "prompt": {"user": "{{ question }}"},
        "format": {"answer": "answer"},
        "verifiers": {"python_tests": {"weight": 1.0, "isolation": "process"}},
        "metric": "python_tests",
    }
    (folder / "own.yaml").write_text(yaml.safe_dump(task))
    return check(load_task(folder / "own.yaml"))


def test_weak_tests_are_named_with_a_call_that_tells(tmp_path):
    result = checked(tmp_path, WEAK)
    found = [finding for finding in result.findings if finding.check == "tests"]
    assert result.ok
    assert result.facts["tests"] == "6 of the first 6 programs have tests that a wrong one passes"
    assert [finding.severity for finding in found] == ["warning"] * 6
    assert [finding.where for finding in found] == [f"rows.jsonl, line {n}" for n in range(1, 7)]
    assert "'return a + b' for 'return a * b'" in found[0].what


def test_the_call_tells(tmp_path):
    """What the line says is true: the reference returns this, the mutant something else."""
    finding = next(f for f in checked(tmp_path, WEAK).findings if f.check == "tests")
    call, _, rest = finding.fix.removeprefix("add a test: ").partition(" gives ")
    expected, _, got = rest.partition(", that one's ")
    line, _, was = finding.what.partition(": ")[2].partition(" for ")
    code = WEAK["mul"][0]
    for program, value in ((code, expected), (code.replace(was.strip("'"), line.strip("'")), got)):
        done = subprocess.run([sys.executable, "-c", f"{program}\nprint({call})"], capture_output=True, text=True)
        assert done.stdout.strip() == value


def test_strong_tests_and_equal_programs_are_not_accused(tmp_path):
    result = checked(tmp_path, STRONG)
    assert result.facts["tests"].startswith("0 of the first 3")
    assert not [finding for finding in result.findings if finding.check == "tests"]


@pytest.mark.parametrize(
    ("tests", "input"),
    [
        ({"inputs": ["2 2\n"], "outputs": ["4\n"]}, "print(int.__mul__(*map(int, input().split())) * 1)"),
        ({"call": "mul", "args": [2, 2], "output": 4}, "def mul(a, b):\n    return a * b"),
        ("def check(candidate):\n    assert candidate(2, 2) == 4\ncheck(mul)", "def mul(a, b):\n    return a * b"),
    ],
    ids=["input and output", "call", "check(candidate)"],
)
def test_all_forms_of_tests(tmp_path, tests, input):
    program = input if "def" in input else "a, b = map(int, input().split())\nprint(a * b)"
    assert checked(tmp_path, {"mul": (program, tests)}).facts["tests"].startswith("1 of the first 1")


def test_mutants_are_other_programs_and_not_too_many():
    code = "def f(n):\n    if n < 2:\n        return n\n    return " + " + ".join(f"n * {k}" for k in range(60))
    found = mutants(code)
    assert len(found) == len(set(found)) == MUTANTS
    assert mutants("x = 1") == ["x = 2"]
    assert mutants("x =") == []
    small = set(mutants("def f(n):\n    for i in range(n):\n        pass\n    return n if n else 0"))
    assert "def f(n):\n    for i in range(n - 1):\n        pass\n    return n if n else 0" in small
    assert "def f(n):\n    for i in range(n):\n        pass\n    return n if not n else 0" in small
    assert "def f(n):\n    for i in range(n):\n        pass\n    return None" in small
