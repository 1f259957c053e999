"""What there is to choose from: every verifier with its options and its cases, from the class itself."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from grpo_env.core import Case, Completion, Example, Group, Score, Verifier, judge_groups
from grpo_env.registry import BUILT_IN, find
from grpo_env.task import make_verifier

SHOWN = 70  # characters of a completion in a list of cases


class Option(NamedTuple):
    """A field of a dataclass as its user sees it: types and defaults as they are written in the source."""

    name: str
    type: str
    default: str
    meaning: str


def options(cls: type) -> list[Option]:
    """The documented fields of a dataclass, inherited ones first: those with a text right under them."""
    found: dict[str, Option] = {}
    for ancestor in reversed(cls.__mro__):
        if "__annotations__" not in vars(ancestor) or ancestor is Verifier:
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body
        assert isinstance(tree, ast.ClassDef)
        for statement, text in pairwise(tree.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(text, ast.Expr):
                name = ast.unparse(statement.target)
                default = ast.unparse(statement.value) if statement.value else "(required)"
                meaning = " ".join(str(ast.literal_eval(text.value)).split())
                found[name] = Option(name, ast.unparse(statement.annotation), default, meaning)
    return list(found.values())


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
        lines += ["| option | default | meaning |", "|---|---|---|"]
        lines += [f"| `{row.name}` | {_code(row.default)} | {_cell(row.meaning.replace('``', '`'))} |" for row in rows]
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
