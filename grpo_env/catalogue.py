"""What there is to choose from: every verifier with its options and its cases, from the class itself."""

from __future__ import annotations

import ast
import inspect
import json
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from itertools import pairwise
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from grpo_env.core import Case, Completion, Example, Group, Score, Verifier, judge_groups
from grpo_env.registry import BUILT_IN, find
from grpo_env.task import make_verifier

SHOWN = 70  # characters of a completion in a list of cases


class Option(NamedTuple):
    """A field of a dataclass as a task file sees it."""

    name: str
    kind: str
    default: str
    meaning: str


def options(cls: type) -> list[Option]:
    """The documented fields of a dataclass, inherited ones first: those with a text right under them."""
    meanings: dict[str, str] = {}
    for ancestor in reversed(cls.__mro__):
        if "__annotations__" not in vars(ancestor) or ancestor is Verifier:
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body
        assert isinstance(tree, ast.ClassDef)
        for statement, text in pairwise(tree.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(text, ast.Expr):
                meanings[ast.unparse(statement.target)] = " ".join(str(ast.literal_eval(text.value)).split())
    hints = get_type_hints(cls)
    known = {field.name: field for field in fields(cls)}
    return [
        Option(name, _kind(hints[name]), _default(known[name]), meaning)
        for name, meaning in meanings.items()
        if name in known
    ]


def _kind(hint: Any) -> str:
    """A type in words: ``Literal["a", "b"] | None`` is ``a or b``."""
    inner = [one for one in get_args(hint) if one not in (type(None), Ellipsis)]
    if get_origin(hint) is Literal:
        return " or ".join(map(str, inner))
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(map(_kind, inner))
    if get_origin(hint) is tuple:
        return f"list: {_kind(inner[0])}"
    if get_origin(hint) is not None:
        return "mapping"
    return {float: "number", int: "whole number", str: "text", bool: "true or false"}.get(hint, str(hint))


def _default(field: Field[Any]) -> str:
    """A default as YAML writes it."""
    if field.default is MISSING and field.default_factory is MISSING:
        return "(required)"
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if isinstance(value, str) and value.isidentifier():
        return value
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False, default=str)


def judged_case(name: str, case: Case) -> tuple[Score, ...]:
    """What the verifier called ``name`` says of a case: one score for each completion."""
    texts: Sequence[str | Completion] = case.completion if isinstance(case.completion, tuple) else (case.completion,)
    group = [text if isinstance(text, Completion) else Completion(text) for text in texts]
    judge = make_verifier(name, case.options, f"a case of {name}")
    return tuple(judge_groups(judge, [Group(Example("case", (), case.answer, case.info), group)], name)[0])


def failed_cases(name: str) -> Iterator[str]:
    """One line for each case of a verifier that does not hold."""
    for number, case in enumerate(find(name).cases):
        expected = case.value if isinstance(case.value, tuple) else (case.value,)
        scores = judged_case(name, case)
        if len(scores) != len(expected) or not all(map(_same, expected, scores)):
            found = "; ".join(f"{score.value} [{score.status}] {score.explanation}" for score in scores)
            yield f"{name}: case {number} ({case.why}): expected {case.value}, found {found}"


def _same(expected: float | None, score: Score) -> bool:
    if expected is None or score.value is None:
        return expected is score.value
    return math.isclose(expected, score.value, rel_tol=1e-9, abs_tol=1e-12)


def summary(cls: type[Verifier]) -> str:
    """The first sentence of a verifier's docstring."""
    return " ".join(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].split())


def page(name: str) -> str:
    """A verifier's part of the catalogue, in Markdown: what it says, its options, its cases."""
    cls = find(name)
    lines = [f"## {name}", "", inspect.cleandoc(cls.__doc__ or "").replace("``", "`"), ""]
    if rows := options(cls):
        lines += ["| option | value | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{row.name}` | {_cell(row.kind)} | {_code(row.default)} | {_cell(row.meaning.replace('``', '`'))} |"
            for row in rows
        ]
        lines.append("")
    if cls.cases:
        lines += ["| completion | answer, options | value | why |", "|---|---|---|---|"]
        lines += [_case_row(case) for case in cls.cases]
        lines.append("")
    return "\n".join(lines)


def whole_page() -> str:
    """The catalogue of all built-in verifiers, in Markdown."""
    lines = [
        "# Catalogue of verifiers",
        "",
        "Written by `grpo_env verifiers show --all` from the classes themselves; a test runs every case. What is built",
        "from other verifiers, and how to write your own: [verifiers](verifiers.md). What `accuracy` takes for right:",
        "[verdicts](verdicts.md).",
        "",
        "| verifier | |",
        "|---|---|",
        *(f"| [{name}](#{name}) | {_cell(summary(find(name)).replace('``', '`'))} |" for name in BUILT_IN),
        "",
    ]
    return "\n".join(lines) + "\n" + "\n".join(page(name) for name in BUILT_IN)


def _case_row(case: Case) -> str:
    texts = case.completion if isinstance(case.completion, tuple) else (case.completion,)
    shown = "<br>".join(_code(_shortened(text)) for text in texts)
    answer: dict[str, Any] = {"answer": case.answer} if case.answer is not None else {}
    given = {**answer, **case.info, **case.options}
    context = ", ".join(f"{key}: {value}" for key, value in given.items())
    values = case.value if isinstance(case.value, tuple) else (case.value,)
    value = ", ".join("unscored" if one is None else f"{one:.4g}" for one in values)
    return f"| {shown} | {_code(context) if context else ''} | {value} | {_cell(case.why)} |"


def _shortened(text: str | Completion) -> str:
    tokens = ""
    if isinstance(text, Completion):
        tokens = f" ({text.num_tokens} tokens)" if text.num_tokens is not None else ""
        text = text.text
    whole = text.replace("\r", "␍").replace("\n", "⏎")
    return (whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 10]}…{whole[-9:]}") + tokens


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{_cell(text)}{fence}" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
