r"""Texts that are nearly answers: the words, templates and known values that both fuzzers are made of."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from oracles import ANSWER_TEMPLATES, HACKS

CASES = Path(__file__).parents[1] / "verifiers" / "cases"

WORDS = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").split()
ATOMS = [*WORDS, " ", "\n", "\t", "\r\n", "\u00a0", "\u200b", "\u2028", "\u202e", "\x00", "\ufeff", "\u0301"]

MARKERS = [
    "<think>", "</think>", "<answer>", "</answer>", "<think>\n", "\n</think>\n<answer>\n", "\n</answer>", "<Answer>",
    "\\boxed{", "\\fbox{", "\\boxed ", "\\boxed{}", "}", "#### ", "\n#### ", "The answer is ", "Final answer: ",
    "**Answer:** ", "\nA: ", "A) ", "**", "$", "$$", "\\(", "\\)", "\\[", "\\]", "```", "```python\n", "- ", "1. ",
    "Step 1: ", "First, ", "Next, ", "Therefore, ", "not ", "isn't ", " or ", " and ", "<<48/2=24>>", "3 + 4 = 7",
    "= ", "so ", "No, wait. ", "?", ". ", "\n\n", "他们", "数学", " because", "half of ",
]  # fmt: skip

TEMPLATES = [
    "%s", "%s", "$%s$", "{%s}", "(%s)", "[%s]", "\\{%s\\}", "\\left(%s\\right)", "\\frac{%s}{2}", "\\frac{1}{%s}",
    "\\sqrt{%s}", "%s^{%s}", "%s_{%s}", "%s,%s", "(%s, %s)", "[%s,%s)", "%s\\cup%s", "%s+%s", "%s-%s", "%s*%s",
    "%s/%s", "%s=%s", "x=%s", "x\\in%s", "%s<x<%s", "%s or %s", "%s and %s", "%s\\pm%s", "-%s", "%s cm", "%s%%",
    "\\text{%s}", "\\begin{pmatrix}%s&%s\\\\%s&%s\\end{pmatrix}", "\\boxed{%s}", "**%s**", "%s.", "\\overline{%s}",
    "\\binom{%s}{%s}", "%s!", "\\log_{%s}%s", "\\sum_{k=1}^{%s}%s", "|%s|", "\\%s", "%s %s", "%s\\\\%s",
]  # fmt: skip

ENVELOPES = [
    "\\boxed{%s}", "<answer>%s</answer>", "<think>so</think><answer>%s</answer>", "<think>%s</think>\\boxed{%s}",
    "The answer is %s.", "#### %s", "A: %s", "%s", "**%s**", "$$\\boxed{%s}$$", "Final answer: $%s$", "%s\n\\boxed{%s}",
    "<think>\n%s\n</think>\n<answer>\n%s\n</answer>", "not \\boxed{%s}", "1. %s\n2. %s\n", "%s = %s",
]  # fmt: skip


def fill(template: str, parts: list[str]) -> str:
    """A template with its ``%s`` filled in, the last part repeated if there are too few."""
    for number in range(template.count("%s")):
        template = template.replace("%s", parts[min(number, len(parts) - 1)].replace("%s", "%"), 1)
    return template.replace("%%", "%")


def seeds() -> list[tuple[str, str]]:
    """Pairs of gold and completion: the case tables, and real ones where ``GRPO_ENV_DATA`` names a folder with them."""
    pairs = []
    for path in sorted(CASES.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            row: dict[str, Any] = json.loads(line)
            if isinstance(row.get("completion"), str):
                pairs.append((str(row.get("gold") or "5"), row["completion"]))
    folder = Path(os.environ.get("GRPO_ENV_DATA", "."))
    if (folder / "math_groups.jsonl").exists():
        for line in (folder / "math_groups.jsonl").read_text().splitlines()[:300]:
            row = json.loads(line)
            texts = row.get("completions") or [row.get("completion")]
            pairs += [(str(row.get("answer") or row.get("gold")), str(text)[-1500:]) for text in texts[:2]]
    if (folder / "math500.jsonl").exists():
        rows = [json.loads(line) for line in (folder / "math500.jsonl").read_text().splitlines()]
        pairs += [(row["answer"], rf"\boxed{{{row['answer']}}}") for row in rows]
    return pairs


def _templated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(fill, st.sampled_from(TEMPLATES), st.lists(inner, min_size=1, max_size=3))


ATOM = st.one_of(st.sampled_from(ATOMS), st.integers(-999, 999).map(str), st.text(max_size=3))
ANSWERS = st.recursive(ATOM, _templated, max_leaves=8)
KNOWN = st.sampled_from(sorted({gold for gold, _ in seeds()}))
TEXTS = st.one_of(
    st.builds(fill, st.sampled_from(ENVELOPES), st.lists(ANSWERS, min_size=1, max_size=2)),
    st.lists(st.one_of(st.sampled_from(MARKERS), ANSWERS), max_size=12).map("".join),
    st.lists(st.one_of(st.sampled_from(MARKERS), st.sampled_from(ATOMS)), max_size=40).map("".join),
    st.builds(lambda text, times: text * times, st.one_of(st.sampled_from(MARKERS), ANSWERS), st.integers(1, 3000)),
)


# Spellings of known values.

_FULL_WIDTH = {ord("0") + digit: 0xFF10 + digit for digit in range(10)}
_VULGAR = {Fraction(1, 2): "½", Fraction(1, 4): "¼", Fraction(3, 4): "¾", Fraction(1, 3): "⅓", Fraction(2, 3): "⅔"}


def spellings(value: Fraction) -> list[str]:
    """Ways to write a number, each exactly equal to ``value``."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    top, bottom = size.numerator, size.denominator
    if bottom == 1:
        texts = [str(top), f"{top:,}", f"{top}.0", f"{top}.", f"{top:,}.00", f"{{{top}}}"]
        texts += [str(top).translate(_FULL_WIDTH), f"{top:,}".replace(",", "{,}"), f"{top:,}".replace(",", r"\,")]
        if top and top % 1000 == 0:
            texts += [f"{top // 1000}e3", rf"{top // 1000}\times10^{{3}}", rf"{top // 1000}\cdot 10^3"]
    else:
        texts = [f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}", rf"\dfrac {{{top}}} {{{bottom}}}"]
        texts += [rf"\frac{top}{bottom}"] if top < 10 and bottom < 10 else []
        if top > bottom:
            texts += [
                rf"{top // bottom}\frac{{{top % bottom}}}{{{bottom}}}",
                f"{top // bottom} {top % bottom}/{bottom}",
            ]
        texts += [_VULGAR[size]] if size in _VULGAR else []
        rest = bottom
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            places = next(n for n in range(40) if (size * 10**n).denominator == 1)
            digits = str(int(size * 10**places)).rjust(places + 1, "0")
            texts += [f"{digits[:-places]}.{digits[-places:]}", f"{digits[:-places]}.{digits[-places:]}0"]
            texts += [f"{int(size * 10**places)}e-{places}", rf"{int(size * 10**places)}\times 10^{{-{places}}}"]
        elif 9 % bottom == 0:
            texts += [rf"{top // bottom}.\overline{{{top % bottom * 9 // bottom}}}"]
    negative = [f"-{text}" for text in texts] + [f"−{texts[0]}", rf"-\left({texts[0]}\right)"]  # noqa: RUF001
    return negative if sign else texts


VALUES = st.one_of(
    st.integers(-20, 20).map(Fraction),
    st.sampled_from([1000, 5000, 12000, 123456, 1234567, 10**12, 10**20]).map(Fraction),
    st.fractions(-20, 20, max_denominator=12),
    st.builds(Fraction, st.integers(-9999, 9999), st.sampled_from([10, 100, 1000, 10**7, 10**18])),
)


@st.composite
def numbers(draw: st.DrawFn, value: Fraction | None = None) -> tuple[str, Any]:
    """A number's spelling and value."""
    value = draw(VALUES) if value is None else value
    return draw(st.sampled_from(spellings(value))), value


@st.composite
def known(draw: st.DrawFn, like: Any = None) -> tuple[str, Any]:
    """A spelling of a number, tuple, interval, set or matrix, and its value; ``like`` asks for that value again."""
    if like is None:
        kind = draw(st.sampled_from(["number", "number", "()", "[]", "[)", "(]", "set", "matrix", "x="]))
        if kind == "number":
            return draw(numbers())
        size = 1 if kind == "x=" else 4 if kind == "matrix" else 2 if kind in ("[)", "(]") else draw(st.integers(2, 3))
        values = draw(st.lists(VALUES, min_size=size, max_size=size, unique=kind == "set"))
        like = values[0] if kind == "x=" else (kind, frozenset(values) if kind == "set" else tuple(values))
        if kind == "x=":
            return f"x = {draw(numbers(like))[0]}", like
    if isinstance(like, Fraction):
        text, _ = draw(numbers(like))
        return draw(st.sampled_from([text, f"${text}$", f"x={text}", f"{text}."])), like
    kind, values = like
    order = draw(st.permutations(sorted(values))) if kind == "set" else values
    texts = [
        draw(st.sampled_from([text for text in spellings(value) if "," not in text and not text.endswith(".")]))
        for value in order
    ]
    separator = draw(st.sampled_from([", ", ",\\ ", " , "]))
    if kind == "set":
        inner = separator.join(texts)
        return draw(st.sampled_from([rf"\{{{inner}\}}", rf"\left\{{{inner}\right\}}", inner])), like
    if kind == "matrix":
        name = draw(st.sampled_from(["pmatrix", "bmatrix"]))
        return rf"\begin{{{name}}} {texts[0]} & {texts[1]} \\ {texts[2]} & {texts[3]} \end{{{name}}}", like
    inner, (left, right) = separator.join(texts), kind
    return draw(st.sampled_from([f"{left}{inner}{right}", rf"\left{left}{inner}\right{right}"])), like


@st.composite
def known_pairs(draw: st.DrawFn) -> tuple[str, str, bool]:
    """Two spellings, and whether they are equal."""
    gold, value = draw(known())
    answer, answer_value = draw(known(value) if draw(st.booleans()) else known())
    return gold, answer, value == answer_value


# A number within a formula, where computer algebra decides. No spelling that means something else there.
CONTEXTS = [
    "x+@",
    "@x",
    "x^2-@",
    "\\sqrt{2}+@",
    "\\frac{x}{@}",
    "\\frac{@}{x+1}",
    "@\\pi",
    "y=x+@",
    "x<@",
    "x \\ge @",
    "@+i",
]

_AMBIGUOUS = re.compile(r",|e|\.$|\d\\frac|\d \d|\\left|\{,|\\over")


@st.composite
def formula_pairs(draw: st.DrawFn) -> tuple[str, str, bool]:
    """Two formulas that differ in at most one number, and whether they are equal."""
    context = draw(st.sampled_from(CONTEXTS))
    value = draw(VALUES.filter(bool))
    second_value = draw(st.sampled_from([value, value, value + 1, -value, value * 2, value / 2]).filter(bool))
    texts = []
    for number in (value, second_value):
        plain = [text for text in spellings(number) if not _AMBIGUOUS.search(text)]
        spelling = draw(st.sampled_from([text for text in plain if "/" not in text or not context.startswith("@")]))
        bracketed = rf"\left({spelling}\right)"
        inside = "{@}" in context or context[0] == "@" or context[-2] in "<e "
        texts.append(context.replace("@", spelling if value == abs(number) or inside else bracketed))
    return texts[0], texts[1], value == second_value


def hacks() -> st.SearchStrategy[tuple[str, str, str]]:
    """Arguments of ``oracles.hack``."""
    single = VALUES.filter(bool).flatmap(numbers)
    several = known().filter(lambda pair: not isinstance(pair[1], Fraction))
    values = st.one_of(single, several).map(lambda pair: pair[0].rstrip("."))
    return st.tuples(values, st.sampled_from(HACKS), st.sampled_from(ANSWER_TEMPLATES))


# The same formula in two forms: A, B and C are any formulas, P and Q are not 0.
IDENTITIES = [
    ("(A)((B)+(C))", "(A)(B)+(A)(C)"),
    ("(A)-(B)", "-((B)-(A))"),
    ("((A)+(B))^2", "(A)^{2}+2(A)(B)+(B)^{2}"),
    ("((A)+(B))((A)-(B))", "(A)^2-(B)^2"),
    (r"\frac{A}{P}+(B)", r"\frac{(A)+(P)(B)}{P}"),
    (r"\frac{(A)(P)}{(Q)(P)}", r"\frac{A}{Q}"),
    ("(A)+(B)", "(B)+(A)"),
    ("(A)(B)", r"(B) \cdot (A)"),
    ("(A)^3", "(A)(A)(A)"),
    ("(P)^{-2}", r"\frac{1}{(P)(P)}"),
    (r"\frac{A}{\sqrt{3}}", r"\frac{(A)\sqrt{3}}{3}"),
    (r"(A)\sqrt{50}", r"5(A)\sqrt{2}"),
    (r"\frac{\frac{A}{P}}{Q}", r"\frac{A}{(P)(Q)}"),
    (r"\frac{A}{\frac{P}{Q}}", r"\frac{(A)(Q)}{P}"),
    (r"\frac{1}{1+\sqrt{2}}+(A)", r"\sqrt{2}-1+(A)"),
    ("0.25(A)", r"\frac{1}{4}(A)"),
    ("-(A)-(B)", "-((A)+(B))"),
    ("A", "((A))"),
]
TERM = st.sampled_from(
    [
        "x",
        "y",
        "2",
        "3",
        r"\frac{1}{2}",
        r"\pi",
        r"\sqrt{2}",
        "0.5",
        "-1",
        "x+1",
        "y-2",
        "2x",
        "x^2",
        "ab",
        "i",
        r"\ln 2",
    ]
)
NOT_ZERO = st.sampled_from(["x", "2", r"\pi", r"\sqrt{2}", "x+y", "3x", "x^{2}+1", r"\frac{2}{3}", "-5"])


@st.composite
def identities(draw: st.DrawFn) -> tuple[str, str, bool]:
    """Two formulas, and whether they are equal; if not, they differ by 1."""
    names = {name: (text, text) for name, text in zip("ABC", draw(st.tuples(TERM, TERM, TERM)), strict=True)}
    names |= {name: (text, text) for name, text in zip("PQ", draw(st.tuples(NOT_ZERO, NOT_ZERO)), strict=True)}
    for _ in range(draw(st.integers(1, 2))):
        sides = draw(st.sampled_from(IDENTITIES))
        pair = tuple(re.sub("[ABCPQ]", lambda match, side=side: names[match[0]][side], sides[side]) for side in (0, 1))
        names["A"] = (pair[0], pair[1])
    equal = draw(st.booleans())
    left, right = names["A"]
    first, second = draw(st.permutations([left, right if equal else f"{right}+1"]))
    return first, second, equal


# Undefined expressions, and contexts for them.
UNDEFINED = [
    r"\log_1 11", r"\frac{1}{0}", r"\tan\frac{\pi}{2}", r"\ln 0", "0^{-1}", r"\frac{0}{0}", r"\infty", r"\log_0 5",
    r"\log_{-1}5", r"\log_5 0", r"\sqrt[0]{5}", r"\sum_{k=1}^{\infty}k", r"\int_0^1\frac{1}{x}dx", "(-1)!", r"\cot 0",
    r"\arcsin 5", "0^0", "0^{i}", r"\lim_{x\to0}\frac{1}{x}", r"\binom{-1}{-1}", r"\lim_{x\to\infty}\sin x",
    r"\frac{x}{x-x}",
    r"\prod_{k=1}^{\infty}k", r"\max()", r"\emptyset", "nan", "oo", "zoo", r"\text{nan}", r"\frac{\ln 1}{\ln 1}", "1/0",
]  # fmt: skip
UNDEFINED_CONTEXTS = [
    "%s", "%s+5", "0 \\cdot %s", "%s-%s", "\\frac{%s}{%s}", "(%s)^0", "5^{%s}", "\\sqrt{%s}", "(%s, 2)", "\\{%s\\}",
    "|%s|", "x+%s", "\\frac{1}{%s}", "x \\le %s", "x=%s", "%s<x<%s", "\\pm %s", "\\ln(%s)", "e^{-%s}",
]  # fmt: skip
VALUELESS = st.builds(
    fill, st.sampled_from(UNDEFINED_CONTEXTS), st.lists(st.sampled_from(UNDEFINED), min_size=1, max_size=2)
)


FORMULA_TEMPLATES = [
    "%s+%s", "%s-%s", "%s %s", "(%s)(%s)", "(%s)%s", "%s(%s)", r"%s \cdot %s", "%s*%s", "%s/%s", r"\frac{%s}{%s}",
    "(%s)^2", "%s^{%s}", "-%s", "-(%s)", r"\sqrt{%s}", r"\left(%s\right)", "[%s]", "{%s}%s", "(%s)^{-1}", "%s%s",
    r"\frac{%s}{%s}%s", r"%s\sqrt{%s}", "(-%s)(%s)", "%s=%s", "%s<%s", r"%s\pi", r"%s\le%s", r"\frac%s%s", "%s^%s",
    "(%s,%s]", r"(%s,%s)\cup(%s,%s)",
]  # fmt: skip
FORMULAS = st.recursive(
    st.one_of(TERM, st.integers(0, 12).map(str)),
    lambda inner: st.builds(fill, st.sampled_from(FORMULA_TEMPLATES), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=5,
)
EDITS = [
    (r"\(", r"\\left("), ("2", "3"), (r"\)\(", r")\\cdot("), ("-", "+"), ("x", "y"), (r"\{", "{ "), ("x", "(x)"),
    ("2", "(2)"), (r"\(-", "(0-"), ("$", "+0"), ("^", "1*"), (r"\^2", "^{2}"), ("3", r"\\frac{6}{2}"),
    (r"\+", r"-(-1)*"),
]  # fmt: skip


@st.composite
def variants(draw: st.DrawFn) -> tuple[str, str, None]:
    """A formula, and one that is equal in a different spelling or nearly the same."""
    formula = draw(FORMULAS)
    pattern, replacement = draw(st.sampled_from(EDITS))
    return formula, re.sub(pattern, replacement, formula, count=draw(st.integers(0, 1))), None


# Dates, times, codes and JSON.

_KINDS = [
    "2024-05-01", "May 1, 2024", "1st of May 2024", "12/6/2020", "25.12.2020", "May 2024", "July 4, 44 BC",
    "Tue, May 5",
    "3:30 pm", "15:30", "10:15", "08:05", "noon", "2:15:30", "3 pm EST", "12 midnight", "3 o'clock", "1:2:3",
    "192.168.0.1", "v1.10", "555-1234", "3-1", "A1", "H2O", "Nf3", "007", "A+", "C++", "#ff0000", "a.b@c.de",
    "x.tar.gz",
    "5-10 minutes", "DE", "SO_4^{2-}", "40.7128, -74.0060", "C:\\Users\\ana", "^\\d{3}$", "https://www.a.org/b/",
    "1920x1080", "120/80 mmHg", "Q3 2021", "SW1A 1AA", "sp3", "1s2 2s2", "U-235", "BRCA1 gene", "221B Baker Street",
    '{"a": 1}', '["a", "b"]', '{"a": [1.0, {"b": null}], "c": "\\u00e9"}', "[]", '{"a": 1e999}',
    '```json\n{"a": 1}\n```',
    "World War II", "Henry VIII", "No, it is not.", "(C) 42", "King, Jr.", "三十五", "x ≡ 3 (mod 7)", "[1,2)",
]  # fmt: skip


def answers_of_kinds() -> list[tuple[str, str]]:
    """Pairs of an answer that is no mathematics and its neighbor."""
    return list(zip(_KINDS, [*_KINDS[1:], _KINDS[0]], strict=True)) + [(text, text) for text in _KINDS]
