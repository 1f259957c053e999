"""Reads unit tests in the forms that data sets have them in, and decides whether a run passes its test.

    {"input": "2 3\\n", "output": "5\\n"}               what the program prints for a standard input
    {"call": "add", "args": [2, 3], "output": 5}       what a function returns, compared as JSON
    "assert add(2, 3) == 5"                            one or more statements of Python
    {"inputs": [...], "outputs": [...]}                many of the first form; with "fn_name", of the second
    a list of these, Python code, or any of them as JSON text

Code is split up: each top-level ``assert``, each ``test…`` function and each ``test…`` method of a
``unittest.TestCase`` is a test of its own, run after the other statements that precede it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from .launch import Run, RunResult
from .values import from_json

_SHOWN = 80  # characters of a value or a test in an explanation
_CONTAINERS = {"set": set, "frozenset": frozenset, "tuple": tuple, "list": list, "dict": dict}


@dataclass(frozen=True)
class UnitTest:
    """One test: a run of the program, and what to compare its result with. ``text`` names it in explanations."""

    run: Run
    compare: Literal["lines", "value", "json", "end"] = "end"
    expected: Any = None
    text: str = ""

    def failure(self, result: RunResult, seconds: float) -> str | None:
        """Why the run fails the test, or ``None`` if it passes."""
        if result.ended == "timeout":
            return f"did not finish within {seconds:g} s"
        if result.ended != "exit":
            return "too much output" if result.ended == "output" else "too many or too large files"
        if result.code < 0:
            return f"killed by signal {-result.code}"
        if result.code > 0:
            lines = result.error.strip().splitlines()
            return _short(lines[-1] if lines else f"exit code {result.code}", 2 * _SHOWN)
        if self.compare == "end":
            return None if result.report == "passed" else "the program ended before the test"
        if self.compare == "lines":
            return None if _lines(result.output) == _lines(self.expected) else self._mismatch(result.output)
        try:
            value = from_json(json.loads(result.report))
            value = _as_json(value) if self.compare == "json" else value
            return None if bool(value == self.expected) else self._mismatch(value)
        except (ValueError, TypeError, RecursionError):
            return "the program ended before the test" if not result.report else "the result is not a plain value"

    def _mismatch(self, got: object) -> str:
        return f"expected {_short(repr(self.expected))}, got {_short(repr(got))}"


def read_tests(data: Any, entry_point: str | None = None) -> tuple[UnitTest, ...]:
    """The tests in a column's value. ``entry_point`` names the function for ``check(candidate)``.

    Raises ``ValueError`` with the reason if the value has none of the forms, or tests nothing.
    """
    if isinstance(data, str):
        text = data.strip()
        if text[:1] in ("[", "{"):
            try:
                return read_tests(json.loads(text), entry_point)
            except json.JSONDecodeError as error:
                raise ValueError(f"the tests are not valid JSON: {error}") from None
        return tuple(_from_code(text, entry_point))
    if isinstance(data, Mapping):
        data = _pairs(data)
    if not isinstance(data, Sequence) or not data:
        raise ValueError("there are no tests" if not data else f"tests cannot be a {type(data).__name__}")
    tests: list[UnitTest] = []
    for number, item in enumerate(data, 1):
        try:
            tests += [_from_mapping(item)] if isinstance(item, Mapping) else _one_from_code(item, entry_point)
        except ValueError as error:
            raise ValueError(f"test {number}: {error}") from None
    return tuple(tests)


def _pairs(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A mapping of lists as a list of mappings."""
    if "call" in data or isinstance(data.get("input"), str):
        return [dict(data)]
    inputs, outputs = data.get("inputs", data.get("input")), data.get("outputs", data.get("output"))
    if not isinstance(inputs, list | tuple) or not isinstance(outputs, list | tuple):
        raise ValueError(f"tests need inputs and outputs; these have {', '.join(map(repr, data)) or 'nothing'}")
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs but {len(outputs)} outputs")
    if name := data.get("fn_name"):
        return [{"call": name, "args": args, "output": output} for args, output in zip(inputs, outputs, strict=True)]
    return [{"input": text, "output": output} for text, output in zip(inputs, outputs, strict=True)]


def _from_mapping(item: Mapping[str, Any]) -> UnitTest:
    if "output" not in item:
        raise ValueError("no output to compare with")
    expected = item["output"]
    if "call" in item:
        name, args = item["call"], item.get("args")
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(args, Sequence | Mapping):
            raise ValueError("a call needs the name of a function and a list or mapping of args")
        if isinstance(args, str):
            raise ValueError("args must be a list, not a string")
        values = [repr(arg) for arg in args] if not isinstance(args, Mapping) else [f"**{dict(args)!r}"]
        call = f"{name}({', '.join(values)})"
        # LeetCode's solutions are methods of a class Solution.
        code = f"({name} if {name!r} in globals() else getattr(Solution(), {name!r}))({', '.join(values)})"
        return UnitTest(Run("value", code=code), "json", _as_json(expected), call)
    text = item.get("input", "")
    if not isinstance(text, str) or not isinstance(expected, str):
        raise ValueError("input and output must be strings")
    return UnitTest(Run("program", input=text), "lines", expected)


def _one_from_code(text: Any, entry_point: str | None) -> list[UnitTest]:
    """The item of a list as one test, however many statements it has."""
    if not isinstance(text, str):
        raise ValueError(f"a test cannot be a {type(text).__name__}")
    tests = list(_from_code(text, entry_point))
    return tests if len(tests) == 1 else [_block(_parse(text), entry_point)]


def _from_code(text: str, entry_point: str | None) -> Iterator[UnitTest]:
    before: list[ast.stmt] = []
    calls: list[str] = []
    rest = False  # whether statements that test something follow the last assert
    has_assert = False
    for node in _parse(text):
        if isinstance(node, ast.Assert):
            has_assert, rest = True, False
            yield _from_assert(before, node, entry_point)
            continue
        before.append(node)
        rest = rest or _tests_something(node)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.args.args:
            calls.append(f"{node.name}()")
        elif isinstance(node, ast.ClassDef) and node.bases:
            names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
            calls += [f"{node.name}({name!r}).debug()" for name in names if name.startswith("test")]
        elif isinstance(node, ast.FunctionDef) and node.name == "check" and entry_point and not rest:
            calls.append(f"check({entry_point})")
    if rest:
        calls = [call for call in calls if not call.startswith("check(")]
        yield _block(before, entry_point)
    for call in calls:
        yield replace(_block([*before, *_parse(call)], entry_point), text=call)
    if not (has_assert or rest or calls):
        raise ValueError("the code has no assert and calls no test")


def _tests_something(node: ast.stmt) -> bool:
    """Whether a top-level statement tests: it calls a function, or has an assert in its body."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    if isinstance(node, ast.Expr):
        return (
            isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id != "print"
        )
    return any(isinstance(inner, ast.Assert) for inner in ast.walk(node))


def _from_assert(before: list[ast.stmt], node: ast.Assert, entry_point: str | None) -> UnitTest:
    """``assert a == literal`` is compared outside the sandbox, out of the program's reach; other asserts run inside."""
    test = node.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        for expression, literal in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            try:
                expected = _literal(literal)
            except ValueError:
                continue
            run = Run("value", before=_unparse(before), code=ast.unparse(expression))
            return UnitTest(run, "value", expected, ast.unparse(expression))
    return replace(_block([*before, node], entry_point), text=ast.unparse(test))


def _literal(node: ast.expr) -> Any:
    """The value of a literal, or of ``set((1, 2))`` and the like. Raises ``ValueError``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CONTAINERS:
        if node.keywords or len(node.args) > 1:
            raise ValueError("not a literal")
        try:
            return _CONTAINERS[node.func.id](*map(_literal, node.args))
        except TypeError:
            raise ValueError("not a literal") from None
    try:
        return ast.literal_eval(node)
    except (TypeError, RecursionError, MemoryError):
        raise ValueError("not a literal") from None


def _block(nodes: list[ast.stmt], entry_point: str | None) -> UnitTest:
    tree = _Equality().visit(ast.parse(_unparse(nodes)))
    return UnitTest(Run("block", code=_unparse(tree.body), entry_point=entry_point))


class _Equality(ast.NodeTransformer):
    """Has the supervisor decide ``a == b`` and ``a != b``, against objects that claim to equal everything."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return node
        same = ast.Call(ast.Name("__same__", ast.Load()), [node.left, node.comparators[0]], [])
        return same if isinstance(node.ops[0], ast.Eq) else ast.UnaryOp(ast.Not(), same)


def _parse(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not valid Python code: {error}") from None


def _unparse(nodes: list[ast.stmt]) -> str:
    return "\n".join(map(ast.unparse, map(ast.fix_missing_locations, nodes)))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _as_json(value: Any) -> Any:
    """A value as it would come back from JSON: tuples are lists, keys are strings."""
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(key): _as_json(item) for key, item in value.items()}
    return value


def _short(text: str, most: int = _SHOWN) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
