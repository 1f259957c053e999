"""What there is to choose from: every verifier with its options and its cases, from the class itself."""

from __future__ import annotations

import ast
import inspect
import json
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from itertools import pairwise
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeGuard, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from grpo_env.core import Case, Completion, Example, Group, Score, Verifier, score_groups
from grpo_env.registry import BUILT_IN, find
from grpo_env.taskfile.task import make_verifier

REQUIRED = "(required)"
SHOWN = 70  # characters of a completion in a list of cases


class Option(NamedTuple):
    """A field of a dataclass or a pydantic model as a YAML file sees it."""

    name: str
    kind: str
    default: str
    meaning: str


def options(cls: type) -> list[Option]:
    """The documented fields of a dataclass or model, inherited ones first: those with a text right under them."""
    meanings: dict[str, str] = {}
    for ancestor in reversed(cls.__mro__):
        if "__annotations__" not in vars(ancestor) or ancestor in (Verifier, BaseModel):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body
        assert isinstance(tree, ast.ClassDef)
        for statement, text in pairwise(tree.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(text, ast.Expr):
                meanings[ast.unparse(statement.target)] = " ".join(str(ast.literal_eval(text.value)).split())
    hints = get_type_hints(cls)
    known = _defaults(cls)
    names = {name: field.alias or name for name, field in cls.model_fields.items()} if _is_model(cls) else {}
    return [
        Option(names.get(name, name), _kind(hints[name]), known[name], meaning)
        for name, meaning in meanings.items()
        if name in known
    ]


def option_table(rows: Sequence[Option]) -> list[str]:
    """Lines of a table in Markdown."""
    return [
        "| option | value | default | meaning |",
        "|---|---|---|---|",
        *(
            f"| `{row.name}` | {_cell(row.kind)} | {_code(row.default)} | {_cell(row.meaning.replace('``', '`'))} |"
            for row in rows
        ),
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
    if get_origin(hint) is not None or is_dataclass(hint) or _is_model(hint):
        return "mapping"
    return {float: "number", int: "whole number", str: "text", bool: "true or false"}.get(hint, str(hint))


def _is_model(cls: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(cls, type) and issubclass(cls, BaseModel)


def _defaults(cls: type) -> dict[str, str]:
    """Each field's default as YAML writes it."""
    if _is_model(cls):
        return {
            name: REQUIRED if field.is_required() else _written(field.get_default(call_default_factory=True))
            for name, field in cls.model_fields.items()
        }
    defaults = {}
    for field in fields(cls):
        value = field.default if field.default_factory is MISSING else field.default_factory()
        defaults[field.name] = REQUIRED if value is MISSING else _written(value)
    return defaults


def _written(value: Any) -> str:
    if isinstance(value, str) and value.isidentifier():
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False, default=str)


def judged_case(name: str, case: Case) -> tuple[Score, ...]:
    """What the verifier called ``name`` says of a case: one score for each completion."""
    texts: Sequence[str | Completion] = case.completion if isinstance(case.completion, tuple) else (case.completion,)
    group = [text if isinstance(text, Completion) else Completion(text) for text in texts]
    judge = make_verifier(name, case.options, f"a case of {name}")
    return tuple(score_groups(judge, [Group(Example("case", (), case.answer, case.info), group)], name)[0])


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
        lines += [*option_table(rows), ""]
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
