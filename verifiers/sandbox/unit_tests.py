"""Reads unit tests in the forms that data sets have them in, and decides whether a run passes its test.

    {"input": "2 3\\n", "output": "5\\n"}               what the program prints for a standard input
    {"call": "add", "args": [2, 3], "output": 5}       what a function returns, compared as JSON
    "assert add(2, 3) == 5"                            one or more statements of Python
    {"inputs": [...], "outputs": [...]}                many of the first form; with "fn_name", of the second (APPS)
    a list of these, Python code, or any of them as JSON text

Code is split up: each top-level ``assert``, each ``test…`` function and each ``test…`` method of a
``unittest.TestCase`` is a test of its own, run after the other statements that precede it.

With ``fn_name`` an output that is a list of one value may stand for that value: APPS has both.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from grpo_env.lazy_regex import lazy_compile
from grpo_env.terminal import shortened

from .launch import Run, RunResult
from .literals import literal
from .plain_values import digest, to_json

_SHOWN = 80  # characters of a value or a test in an explanation
_DECIMAL = lazy_compile(r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?", re.ASCII)
_EQUALITIES = (
    "assertEqual",
    "assertEquals",
    "assertListEqual",
    "assertDictEqual",
    "assertTupleEqual",
    "assertSetEqual",
)


@dataclass(frozen=True)
class UnitTest:
    """One test: a run of the program, and what to compare its result with. ``text`` names it in explanations.

    ``output`` is the standard output. ``values`` are those that the run reports, by place; a run has to report those of
    ``required``, and may have no occasion to report the others. ``or_its_item``: a list of one may stand for its item.
    """

    run: Run
    output: str | None = None
    values: tuple[Any, ...] = ()
    required: frozenset[int] = frozenset()
    text: str = ""
    or_its_item: bool = False

    def failure(self, result: RunResult, seconds: float, decimals: bool) -> str | None:
        """Why the run fails the test, or ``None`` if it passes. ``decimals``: numbers in its output are values."""
        if result.ended == "timeout":
            return f"did not finish within {seconds:g} s"
        if result.ended != "exit":
            return "too much output" if result.ended == "output" else "too many or too large files"
        if result.code < 0:
            return f"killed by signal {-result.code}"
        if self.output is not None and result.code == 0:
            same = _same_lines(result.output, self.output, decimals)
            return None if same else _mismatch(self.output, _repr(result.output))
        if failure := self._wrong_value(result):
            return failure
        if result.code > 0:
            lines = result.error.strip().splitlines()
            return shortened(lines[-1] if lines else f"exit code {result.code}", 2 * _SHOWN)
        finished = result.passed or self.run.kind == "value"
        missing = self.required - {place for place, _, _ in result.records}
        return None if finished and not missing else "the program ended before the test"

    def _wrong_value(self, result: RunResult) -> str | None:
        for place, hashed, text in result.records:
            if not 0 <= place < len(self.values):
                return "the result is not a plain value"
            value = self.values[place]
            accepted = [value, *(value if self.or_its_item and isinstance(value, list) and len(value) == 1 else ())]
            if hashed not in [digest(to_json(value), self.run.as_json) for value in accepted]:
                return _mismatch(self.values[place], text)
        return None


def _mismatch(expected: object, got: str) -> str:
    return f"expected {shortened(_repr(expected), _SHOWN)}, got {shortened(got, _SHOWN)}"


def _repr(value: object) -> str:
    return repr(value[: 2 * _SHOWN] if isinstance(value, str) else value)


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
        return [{"fn_name": name, "args": args, "output": output} for args, output in zip(inputs, outputs, strict=True)]
    return [{"input": text, "output": output} for text, output in zip(inputs, outputs, strict=True)]


def _from_mapping(item: Mapping[str, Any]) -> UnitTest:
    if "output" not in item:
        raise ValueError("no output to compare with")
    expected = item["output"]
    if "call" in item or "fn_name" in item:
        name, args = item.get("call", item.get("fn_name")), item.get("args")
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(args, Sequence | Mapping):
            raise ValueError("a call needs the name of a function and a list or mapping of args")
        if isinstance(args, str):
            raise ValueError("args must be a list, not a string")
        values = [repr(arg) for arg in args] if not isinstance(args, Mapping) else [f"**{dict(args)!r}"]
        call = f"{name}({', '.join(values)})"
        # LeetCode's solutions are methods of a class Solution.
        code = f"({name} if {name!r} in globals() else getattr(Solution(), {name!r}))({', '.join(values)})"
        _check_json(expected)
        run = Run("value", code=code, as_json=True)
        return UnitTest(run, None, (expected,), frozenset({0}), call, or_its_item="fn_name" in item)
    if "input" not in item:
        raise ValueError('no input; write "input": "" for a program that reads nothing')
    if item.get("testtype") not in (None, "stdin"):  # of LiveCodeBench, which has the function's name elsewhere
        raise ValueError(
            f"testtype {item['testtype']!r} is no standard input; write a call as "
            '{"call": NAME, "args": [...], "output": VALUE}'
        )
    text = item["input"]
    if not isinstance(text, str) or not isinstance(expected, str):
        raise ValueError("input and output must be strings")
    return UnitTest(Run("program", input=text), expected)


def _one_from_code(text: Any, entry_point: str | None) -> list[UnitTest]:
    """The item of a list as one test, however many statements it has."""
    if not isinstance(text, str):
        raise ValueError(f"a test cannot be a {type(text).__name__}")
    tests = list(_from_code(text, entry_point))
    return tests if len(tests) == 1 else [_block(_parse(text), entry_point)]


def _from_code(text: str, entry_point: str | None) -> Iterator[UnitTest]:
    before: list[ast.stmt] = []
    calls: list[tuple[str, str]] = []  # with the name of the method
    rest = False  # whether statements that test something follow the last assert
    has_assert = False
    for node in _parse(text):
        if isinstance(node, ast.Assert):
            has_assert, rest = True, False
            yield _from_assert(before, node, entry_point)
            continue
        before.append(node)
        rest = rest or _tests_something(node)
        calls += _calls_of(node, None if rest else entry_point)
    if rest:
        calls = [call for call in calls if call[1] != "check"]
        yield _block(before, entry_point)
    for call, method in calls:
        yield replace(_block([*before, *_parse(call)], entry_point, method), text=call)
    if not (has_assert or rest or calls):
        raise ValueError("the code has no assert and calls no test")


def _calls_of(node: ast.stmt, entry_point: str | None) -> Iterator[tuple[str, str]]:
    """The calls that run the tests which a statement defines, with the name of the method."""
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.args.args:
        yield f"{node.name}()", node.name
    elif isinstance(node, ast.FunctionDef) and node.name == "check" and entry_point:
        yield f"check({entry_point})", "check"
    elif isinstance(node, ast.ClassDef) and node.bases:
        names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
        yield from ((f"{node.name}({name!r}).debug()", name) for name in names if name.startswith("test"))


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
    if pair := _literal_comparison(node.test):
        expression, expected = pair
        run = Run("value", before=_unparse(before), code=ast.unparse(expression))
        return UnitTest(run, None, (expected,), frozenset({0}), ast.unparse(expression))
    return replace(_block([*before, node], entry_point), text=ast.unparse(node.test))


def _literal_comparison(test: ast.expr) -> tuple[ast.expr, Any] | None:
    """The expression and the value of ``expression == literal``."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        return _with_literal(test.left, test.comparators[0])
    return None


def _with_literal(left: ast.expr, right: ast.expr) -> tuple[ast.expr, Any] | None:
    for expression, other in ((left, right), (right, left)):
        try:
            value = literal(other)
            digest(to_json(value))
        except (ValueError, TypeError, RecursionError):
            continue
        return expression, value
    return None


def _block(nodes: list[ast.stmt], entry_point: str | None, method: str = "") -> UnitTest:
    """Statements that run beside the program. ``method`` is that of a class among them which the last one calls."""
    tree = ast.parse(_unparse(nodes))
    calls = [node.value.func for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    reports = _Reports(tree, {method, *(function.id for function in calls if isinstance(function, ast.Name))})
    reports.replace(tree.body, certain=True)
    tree = _Equality().visit(tree)
    run = Run("block", code=_unparse(tree.body), entry_point=entry_point)
    return UnitTest(run, None, tuple(reports.values), frozenset(reports.required))


class _Reports:
    """Replaces comparisons with literals by reports of the compared value, which are then compared outside.

    The program then never receives the literals. ``required`` are the places that every run which finishes reports. Not
    in tests that catch exceptions, whose way may depend on a comparison.
    """

    def __init__(self, tree: ast.Module, called: set[str]) -> None:
        self.values: list[Any] = []
        self.required: set[int] = set()
        self._called = called
        self._catches = any(
            isinstance(node, ast.Try | ast.TryStar) or (isinstance(node, ast.Name) and "AssertionError" in node.id)
            for node in ast.walk(tree)
        )

    def replace(self, body: list[ast.stmt], certain: bool) -> None:
        """``certain`` is whether each statement of the body runs, if the test finishes."""
        if self._catches:
            return
        for index, node in enumerate(body):
            if pair := self._compared(node):
                body[index] = self._report(*pair, certain)
            elif isinstance(node, ast.FunctionDef):
                self.replace(node.body, node.name in self._called and not _may_leave(node))
            elif isinstance(node, ast.ClassDef | ast.With | ast.If | ast.For | ast.While):
                self.replace(node.body, certain=False)
                self.replace(getattr(node, "orelse", []), certain=False)

    def _compared(self, node: ast.stmt) -> tuple[ast.expr, Any] | None:
        if isinstance(node, ast.Assert):
            return _literal_comparison(node.test)
        if call := _equality_call(node):
            return _with_literal(call.args[0], call.args[1])
        return None

    def _report(self, expression: ast.expr, value: Any, certain: bool) -> ast.stmt:
        place = len(self.values)
        self.values.append(value)
        if certain:
            self.required.add(place)
        name = ast.Name("__record__", ast.Load())
        return ast.Expr(ast.Call(name, [ast.Constant(place), expression], []))


def _equality_call(node: ast.AST) -> ast.Call | None:
    """``self.assertEqual(a, b)`` and its relatives."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        starred = any(isinstance(argument, ast.Starred) for argument in call.args)
        if call.func.value.id == "self" and call.func.attr in _EQUALITIES and len(call.args) >= 2 and not starred:
            return call
    return None


def _may_leave(function: ast.FunctionDef) -> bool:
    """Whether a function may end before its last statement."""
    return any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in ast.walk(function))


class _Equality(ast.NodeTransformer):
    """Has the supervisor decide ``a == b`` and ``a != b``, against objects that claim to equal everything."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return node
        same = _same(node.left, node.comparators[0])
        return same if isinstance(node.ops[0], ast.Eq) else ast.UnaryOp(ast.Not(), same)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        if call := _equality_call(node):
            check = ast.Attribute(ast.Name("self", ast.Load()), "assertTrue", ast.Load())
            message = [*call.args[2:3], *(keyword.value for keyword in call.keywords if keyword.arg == "msg")]
            return ast.Expr(ast.Call(check, [_same(*call.args[:2]), *message], []))
        return node


def _same(left: ast.expr, right: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("__same__", ast.Load()), [left, right], [])


def _parse(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not valid Python code: {error}") from None


def _unparse(nodes: list[ast.stmt]) -> str:
    return "\n".join(map(ast.unparse, map(ast.fix_missing_locations, nodes)))


def _same_lines(text: str, expected: str, decimals: bool) -> bool:
    text, expected = text.rstrip(), expected.rstrip()
    if text.count("\n") != expected.count("\n"):
        return False
    pairs = zip(text.split("\n"), expected.split("\n"), strict=True)
    return all(line.rstrip() == other.rstrip() or (decimals and _same_words(line, other)) for line, other in pairs)


def _same_words(line: str, other: str) -> bool:
    words, others = line.split(), other.split()
    return len(words) == len(others) and all(map(_same_word, words, others))


def _same_word(word: str, other: str) -> bool:
    if word == other:
        return True
    return all(map(_DECIMAL.fullmatch, (word, other))) and Decimal(word) == Decimal(other)


def _check_json(value: Any) -> None:
    try:
        digest(to_json(value), as_json=True)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the output cannot be compared: {error}") from None
