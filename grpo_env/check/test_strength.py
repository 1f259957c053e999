"""How much unit tests tell: small changes of the reference program that pass them, though they do something else.

The changes are those of mutation testing. That tests of public data pass wrong programs: EvalPlus (arXiv:2305.01210).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from grpo_env.core import Completion, Example, Group
from grpo_env.taskfile.task import Task
from grpo_env.workers.scoring_process import score_in_process

from .findings import Finding, warning
from .gold_completion import gold_text, judging, verifier_name

if TYPE_CHECKING:
    from grpo_env.verifiers.python_tests import PythonTests
    from grpo_env.verifiers.sandbox.launch import Run, RunResult

EXAMPLES, MUTANTS, INPUTS = 10, 20, 80  # programs that are tried, changes of each, other inputs for each
SECONDS = 1.0  # for a test of a changed program
SWAPS = {
    "Add": "Sub Mult", "Sub": "Add", "Mult": "Add FloorDiv", "FloorDiv": "Mult", "Div": "Mult", "Mod": "FloorDiv",
    "Pow": "Mult", "Lt": "LtE Gt", "LtE": "Lt", "Gt": "GtE Lt", "GtE": "Gt", "Eq": "NotEq", "NotEq": "Eq",
    "And": "Or", "Or": "And",
}  # fmt: skip
WEAK = "a wrong program passes all tests"


def test_strength(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> tuple[str, list[Finding]]:
    """How many of the first programs have tests that a wrong one passes, and a warning for each of those.

    An empty fact if no gold answer is a program that unit tests run. Raises ``SandboxError`` if none can be run.
    """
    tried, findings = 0, []
    for example, gold in zip(examples, golds, strict=True):
        if tried == EXAMPLES:
            break
        parts: Iterator[Any] = (p for p in judging(task.verifier, example) if verifier_name(p) == "python_tests")
        verifier = next(parts, None)
        fence = re.search(r"```(?:python)?\n(.*?)\n?```", gold, re.DOTALL)
        code = fence[1] if fence else gold
        if verifier is not None and (changed := mutants(code)):
            tried += 1
            if weak := _survivor(verifier, example, [code, *changed], gold_text(task, example, gold)):
                findings.append(warning("tests", example.name, f"{WEAK}: {weak[0]}", f"add a test: {weak[1]}", WEAK))
    return (
        f"{len(findings)} of the first {tried} programs have tests that a wrong one passes" if tried else "",
        findings,
    )


def mutants(code: str) -> list[str]:
    """The program with one operator, constant, condition, result or range changed; none if it is no Python."""
    found = []
    with suppress(SyntaxError, ValueError):
        tree = ast.parse(code)
        for (index, node), kind in product(enumerate(ast.walk(tree)), range(2)):
            if _changed(copy(node), kind):  # most nodes have no change, and need no copy of the program
                other = deepcopy(tree)
                _changed(list(ast.walk(other))[index], kind)
                found.append(ast.unparse(other))
    found = list(dict.fromkeys(found))
    return [found[number * len(found) // MUTANTS] for number in range(MUTANTS)] if len(found) > MUTANTS else found


def _changed(node: Any, kind: int) -> bool:
    """Change a node in place, if there is a change of this number for it."""
    operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
    swaps = SWAPS.get(type(operator).__name__, "").split()
    if kind < len(swaps):
        other = getattr(ast, swaps[kind])()
        setattr(node, *(("ops", [other, *node.ops[1:]]) if isinstance(node, ast.Compare) else ("op", other)))
    elif kind or swaps:
        return False
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value += 1  # type: ignore[operator]
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return) and node.value is not None:
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range" and node.args:
        end = min(1, len(node.args) - 1)
        node.args = [*node.args[:end], ast.BinOp(node.args[end], ast.Sub(), ast.Constant(1)), *node.args[end + 1 :]]
    else:
        return False
    return True


def _inputs(given: Run, code: str) -> Iterator[Run]:
    """Runs like that of a test, with other numbers, texts and lists in its call or input, also those of the program."""
    for step, match in product((1, 2, -1), list(re.finditer(r"-?\d+", given.input))):
        yield replace(given, input=f"{given.input[: match.start()]}{int(match[0]) + step}{given.input[match.end() :]}")
    constants = [getattr(node, "value", None) for node in ast.walk(ast.parse(code))]
    own = list(dict.fromkeys(near for value in constants if type(value) is int for near in (value, value - 1)))[:6]
    name = given.entry_point or next(iter(re.findall(r"^check\((\w+)\)", given.code, re.MULTILINE)), "candidate")
    tree = ast.parse(re.sub(r"\bcandidate\b", name, given.code))
    calls = [
        node.args[1] for node in ast.walk(tree) if isinstance(node, ast.Call) and "__record__" in ast.unparse(node)
    ]
    for call in [tree.body[0].value] if given.kind == "value" and isinstance(tree.body[0], ast.Expr) else calls:
        count = sum(isinstance(node, ast.Constant | ast.List) for node in ast.walk(call))
        for kind, which in product(range(5 + len(own)), (None, *range(count))):
            other = deepcopy(call)
            values = [node for node in ast.walk(other) if isinstance(node, ast.Constant | ast.List)]
            for place, node in enumerate(values):
                if which in (None, place):
                    _change_value(node, kind, place + 1 if which is None else 1, own)
            yield replace(given, kind="value", code=ast.unparse(other), entry_point=None)


def _change_value(node: ast.Constant | ast.List, kind: int, step: int, own: Sequence[int]) -> None:
    """Another number, text or list in place; from the sixth kind on, a number of the program's own."""
    if isinstance(node, ast.List):
        more = node.elts + [ast.Constant(3)] * all(type(getattr(item, "value", "")) is int for item in node.elts)
        node.elts = (more, more[::-1], node.elts * 2, node.elts[1:], [])[kind] if kind < 5 else node.elts
    elif isinstance(value := node.value, bool):
        node.value = not value
    elif isinstance(value, int | float):
        node.value = (value + step, 2 * value + step, value + 10 * step, 0, -value, *own)[kind]
    elif isinstance(value, str) and kind < 5:
        node.value = (value + "b", value[1:], value * 2, "", value[::-1])[kind]


def _survivor(
    verifier: PythonTests, example: Example, programs: Sequence[str], completion: str
) -> tuple[str, str] | None:
    """The first mutant that passes the tests and differs on some input: its changed line, and a call that tells.

    The first of ``programs`` is the reference, which is in the ``completion``.
    """
    from grpo_env.verifiers.sandbox.launch import run
    from grpo_env.verifiers.sandbox.limits import MIB, Limits

    code = programs[0]
    group = Group(example, [Completion(completion.replace(code, program)) for program in programs])
    (scores,) = score_in_process(replace(verifier, credit="all", timeout=min(verifier.timeout, SECONDS)), [group])
    passing = [program for program, score in zip(programs, scores, strict=True) if score.value == 1]
    if code not in passing:
        return None
    tests, setup = verifier.read_tests(example)
    others = list(dict.fromkeys(other for test in tests for other in _inputs(test.run, code)))
    others, limits = others[:: len(others) // INPUTS + 1], Limits(SECONDS, verifier.deadline, verifier.memory * MIB)

    def values(program: str) -> list[str | None]:
        how: Any = {"setup": setup, "isolation": verifier.isolation, "packages": verifier.packages}
        return [_value(result) for result in run(program, others, limits, **how)]

    right = values(code) if len(passing) > 1 else []
    for program in passing[1:]:
        for other, expected, got in zip(others, right, values(program), strict=False):
            if expected is not None and expected != got:
                lines = (ast.unparse(ast.parse(text)).splitlines() for text in (code, program))
                was, line = next((a.strip(), b.strip()) for a, b in zip(*lines, strict=False) if a != b)
                call = other.code if other.kind == "value" else f"the input {other.input!r}"
                return f"{line!r} for {was!r}", f"{call} gives {expected}, that one's {got or 'an error'}"
    return None


def _value(result: RunResult) -> str | None:
    """What a run returned or printed, ``None`` if it failed."""
    said = result.records[0][2] if result.records else result.output.strip()
    return said or None if result.ended == "exit" and not result.code else None
