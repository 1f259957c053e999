"""Does the program in the completion pass its unit tests? It runs in a sandbox; results are compared outside of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Status, Verifier
from grpo_env.errors import UsageError, nearest
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .blocks import after_block, find_tags, whole_turn
from .sandbox.launch import Isolation, SandboxError, run, unavailable
from .sandbox.limits import MIB, Limits
from .sandbox.unit_tests import UnitTest, read_tests

MAX_CODE = 200_000  # characters
MAX_SHOWN = 300  # characters of the code in a score
_FENCE = lazy_compile(r"^[ \t]{0,12}(`{3,}+|~{3,}+)([^\n`]*+)$", re.MULTILINE)
_PYTHON = ("python", "py", "python3")
_DEFINED = lazy_compile(
    r"^(?:(?:async[ \t]{1,9})?(?:def|class)[ \t]{1,9}(\w{1,99})|(\w{1,99}) ?= ?lambda\b)", re.MULTILINE
)
_NAME = lazy_compile(r"[^\W\d]\w*+")
# The start of a line that runs by itself: no part of a definition, no import, constant or comment.
_RUNS = lazy_compile(
    r"^(?!(?:async[ \t]{1,9}def|def|class|import|from)\b|\w{1,99} ?= ?lambda\b|[A-Z][A-Z0-9_]{0,99} ?=|[@#)\]}])\S",
    re.MULTILINE,
)


@verifier("python_tests")
@dataclass(frozen=True)
class PythonTests(Verifier):
    """The fraction of its unit tests that the completion's Python program passes, or 1 only if it passes all.

    The program is the last fenced block marked ``python`` (else the last unmarked one) after the closed reasoning,
    within the answer tag if there is one (which is all program without a fence). Where tests call functions, it is the
    last such block that defines one, with earlier blocks of definitions that it uses. A missing, empty or unclosed
    block is ``no_answer``.

    ``info`` holds the tests: pairs of standard input and output (compared line by line, ignoring white space at line
    ends and empty lines at the end), calls with the value they return (as in JSON: ``True`` is not 1), or Python code
    with ``assert``. Every test starts from a fresh run of the program in the sandbox (see the page on it). A test that
    takes too long fails; the status is ``timeout`` only if all of them did. Tests that cannot be read are
    ``bad_gold``, a sandbox that does not start is ``error``.

    A program cannot fake outputs, values of calls, and what test code compares with a literal (``assert f(x) == 5``):
    its process never receives the expected values. All other test code (``<``, ``in``, ``isclose``, a computed value,
    a loop, ``try``) runs beside the program, which can read and change it. Where that matters, give tests in the other
    forms.

    Source: open-r1's code reward, which compares only the lines that both outputs have. Programs in several blocks:
    NeMo-Gym#820 and code-r1#6.
    """

    tests: str = "tests"
    """The ``info`` column with the tests."""
    setup: str | None = None
    """An ``info`` column with Python code to run before the program, such as imports."""
    entry_point: str | None = None
    """An ``info`` column with the name of the function that tests of the form ``check(candidate)`` call."""
    credit: Literal["tests", "all"] = "tests"
    """``tests``: the fraction of passed tests. ``all``: 1 if all pass, else 0; the first failure ends the run."""
    decimals: bool = False
    """Whether numbers in lines of output are compared by value, ``0.5`` and ``0.500000`` say, as by LiveCodeBench."""
    timeout: float = 5.0
    """Seconds for one test, by the clock and of processor time; more than 0."""
    deadline: float = 30.0
    """Seconds for all tests of a completion; those not run by then fail."""
    memory: int = 512
    """MiB of address space for the process of a test, at least 64."""
    packages: bool = False
    """Whether programs may import installed packages (NumPy…) besides the standard library; starts slower."""
    isolation: Isolation = "auto"
    """``bubblewrap``, or ``process``, which prevents less. ``auto``: bubblewrap; unscored where it does not start."""
    format: Format = field(default_factory=Format)

    cases: ClassVar[tuple[Case, ...]] = (
        Case(
            "<think>Add them.</think>\n```python\ndef add(a, b):\n    return a + b\n```",
            1.0,
            "both asserts hold",
            info={"tests": ["assert add(2, 3) == 5", "assert add(-1, 1) == 0"]},
        ),
        Case(
            "```python\nprint(sum(map(int, input().split())))\n```",
            1.0,
            "prints the sum of the line it reads",
            info={"tests": [{"input": "2 3\n", "output": "5"}]},
        ),
        Case(
            "```python\ndef double(x):\n    return x + 2\n```",
            0.5,
            "correct for 2 only",
            info={
                "tests": [{"call": "double", "args": [2], "output": 4}, {"call": "double", "args": [3], "output": 6}]
            },
        ),
        Case(
            "```python\nprint(1 / 2)\n```",
            1.0,
            "the same number",
            options={"decimals": True},
            info={"tests": [{"input": "", "output": "0.500000\n"}]},
        ),
        Case(
            "```python\ndef add(a, b):\n    return a + b\n```\nFor example:\n```python\nprint(add(1, 2))\n```",
            1.0,
            "the last block only shows how to use the one before",
            info={"tests": ["assert add(2, 3) == 5"]},
        ),
        Case(
            "```python\nimport os\nos._exit(0)\n```",
            0.0,
            "exits before the tests, without an error",
            info={"tests": ["assert add(2, 3) == 5"]},
        ),
        Case(
            "```python\nclass Any:\n    __eq__ = lambda self, other: True\ndef add(a, b):\n    return Any()\n```",
            0.0,
            "an object that equals everything",
            info={"tests": ["assert add(2, 3) == 5"]},
        ),
        Case(
            "<think>```python\ndef add(a, b):\n    return a + b\n```</think>\nDone.",
            0.0,
            "code inside the reasoning does not count",
            info={"tests": ["assert add(2, 3) == 5"]},
        ),
    )

    def __post_init__(self) -> None:
        for name in ("timeout", "deadline"):
            if not 0 < getattr(self, name) < 86400:
                raise UsageError(f"python_tests: {name} is {getattr(self, name)!r}; give seconds above 0")
        if self.memory < 64:
            raise UsageError(f"python_tests: memory is {self.memory!r}; give MiB, at least 64")
        if self.isolation == "bubblewrap" and (reason := unavailable("bubblewrap", self.packages)):
            raise UsageError(f"python_tests: isolation: bubblewrap, but {reason}; install it or use auto")

    @property
    def default_deadline(self) -> float:
        return self.deadline + 300.0  # the interpreter and its sandbox may start slowly

    def __call__(self, example: Example, completion: Completion) -> Score:
        try:
            tests, setup = self.read_tests(example)
        except ValueError as error:
            return Score(None, "bad_gold", explanation=str(error))
        score = Score(0.0, gold=f"{len(tests)} test{'s' * (len(tests) > 1)}")
        is_called = all(test.output is None for test in tests)
        code, reason = find_program(self.format, completion, is_called)
        if code is None:
            return replace(score, status="no_answer", explanation=reason)
        score = replace(score, answer=code[:MAX_SHOWN])
        if len(code) > MAX_CODE:
            return replace(score, status="over_limit", explanation=f"the program is too long: {len(code)} characters")
        try:
            return self._run_tests(score, tests, code, setup)
        except SandboxError as error:
            return replace(score, value=None, status="error", explanation=str(error))

    def problem(self, example: Example) -> str | None:
        try:
            self.read_tests(example)
        except ValueError as error:
            return str(error)
        return None

    def read_tests(self, example: Example) -> tuple[tuple[UnitTest, ...], str]:
        """The tests of an example and its setup code. Raises ``ValueError``."""
        for column in (self.tests, self.setup, self.entry_point):
            if column is not None and column not in example.info:
                raise ValueError(f"there is no column {column!r}; {nearest(column, example.info)}")
        setup = example.info[self.setup] if self.setup else ""
        entry_point = example.info[self.entry_point] if self.entry_point else None
        if isinstance(setup, list | tuple) and all(isinstance(line, str) for line in setup):
            setup = "\n".join(setup)
        if not isinstance(setup or "", str):
            raise ValueError(f"column {self.setup!r} is not code")
        if entry_point is not None and not (isinstance(entry_point, str) and entry_point.isidentifier()):
            raise ValueError(f"column {self.entry_point!r} is not the name of a function: {entry_point!r}")
        try:
            return read_tests(example.info[self.tests], entry_point), setup or ""
        except ValueError as error:
            raise ValueError(f"column {self.tests!r}: {error}") from None

    def _run_tests(self, score: Score, tests: tuple[UnitTest, ...], code: str, setup: str) -> Score:
        limits = Limits(self.timeout, self.deadline, self.memory * MIB)
        failures: list[str | None] = []
        timeouts = 0
        results = run(
            code, [test.run for test in tests], limits, setup=setup, isolation=self.isolation, packages=self.packages
        )
        with closing(results):
            for test, result in zip(tests, results, strict=False):  # fewer results than tests: the rest fails below
                failures.append(test.failure(result, self.timeout, self.decimals))
                timeouts += result.ended == "timeout"
                if failures[-1] is not None and self.credit == "all":
                    break
        passed = failures.count(None)
        explanation = f"{passed} of {len(tests)} tests passed"
        first = next((number for number, failure in enumerate(failures) if failure is not None), None)
        if first is not None:
            text = f" ({tests[first].text[:80]})" if tests[first].text else ""
            explanation += f"; test {first + 1}{text}: {failures[first]}"
        if len(failures) < len(tests):
            explanation += f"; {len(tests) - len(failures)} not run"
        value = passed / len(tests) if self.credit == "tests" else float(passed == len(tests))
        status: Status = "timeout" if not passed and timeouts == len(failures) else "scored"
        return replace(score, value=value, status=status, explanation=explanation)


def find_program(format: Format, completion: Completion, is_called: bool) -> tuple[str | None, str]:
    """The program in a completion, or ``None`` and the reason why there is none.

    ``is_called``: tests call what it defines, rather than run it for its output.
    """
    text = after_block(whole_turn(format, completion)[0], format.reasoning)
    if text is None:
        return None, "the reasoning block is not closed"
    tags = find_tags(text, format.answer) if format.answer else []
    if tags:
        if len(tags) < 2 or tags[-2].closing or not tags[-1].closing:
            return None, "the answer tag is not closed"
        text = text[tags[-2].end : tags[-1].start]
    blocks = _fenced_blocks(text)
    if blocks is None:
        return None, "the code block is not closed"
    if tags and not blocks:
        blocks = {"marked": [textwrap.dedent(text)]}
    code = _joined(blocks.get("marked") or blocks.get("unmarked") or [""], is_called)
    return (code, "") if code.strip() else (None, "no Python code block in the answer")


def _fenced_blocks(text: str) -> dict[str, list[str]] | None:
    """The blocks of each kind: ``marked`` as Python, ``unmarked``, ``other``; ``None`` if a block is not closed."""
    blocks: dict[str, list[str]] = {}
    fence, start, kind = "", 0, ""
    for match in _FENCE.finditer(text):
        words = match[2].lower().split()
        if not fence:
            fence, start = match[1], match.end() + 1
            kind = "unmarked" if not words else "marked" if words[0] in _PYTHON else "other"
        elif not words and match[1].startswith(fence):
            blocks.setdefault(kind, []).append(textwrap.dedent(text[start : match.start()]))
            fence = ""
    return None if fence else blocks


def _joined(blocks: Sequence[str], is_called: bool) -> str:
    """The last block, or the last that defines something if it ``is_called``, after the definitions that it uses."""
    defined = [{function or name for function, name in _DEFINED.findall(block)} for block in blocks]
    last = next((number for number in reversed(range(len(blocks))) if defined[number] and is_called), len(blocks) - 1)
    program, known, used = [blocks[last]], defined[last], set(_NAME.findall(blocks[last]))
    for number in reversed(range(last)):
        if (defined[number] - known) & used and not _RUNS.search(blocks[number]):
            program.insert(0, blocks[number])
            known |= defined[number]
            used |= set(_NAME.findall(blocks[number]))
    return "\n".join(program)
