r"""Parses an answer: ``x = 2\frac13`` is the number 7/3 with the name x, ``]1,2]`` an interval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number, OverLimitError, read_number
from ..quantities.units import split_unit
from .brackets import english, items, outer, split
from .exact import approximate
from .grammar import GREEK
from .normal import normal, unwrapped
from .parsed import Content, Formula, Group, ParsedAnswer, Words
from .prose import read_prose, read_words
from .real_sets import REALS, group, inequality, real_set, without

MAX_LENGTH = 1500
MAX_NESTING = 20
MAX_SIGNS = 4  # plus-minus signs in one item; each doubles the number of values

# What may stand left of "= 5".
_PART = r"(?:[A-Za-z]{1,3}(?:_\{?\\?\w{1,9}\}?)?|\|[A-Za-z]{1,2}\|)"  # of a ratio V_1:V_2
_PART_OF_RATIO = lazy_compile(r"[^A-Za-z]*(?:\\[a-z]+[^A-Za-z]*)*|[A-Za-z]")
_FRACTION = r"\\frac\{(?:\d{1,4}|\d{0,4}\\pi)\}\{\d{1,4}\}"
_INDEX = r"(?:_(?:\\?\w{1,9}|\{[^{}=<>^]{1,20}\}))"
_NAME = "|".join(
    (
        rf"[A-Za-z]'{{0,2}}{_INDEX}?",  # x, f', v_0, r_{1,2}, t_{1/2}
        rf"\\(?:Delta|delta)\s?(?:[A-Za-z]|\\[a-z]+){_INDEX}?",  # \Delta U
        rf"\\[A-Za-z]+|\\(?!(?:log|ln|exp|sqrt|sin|cos|tan)(?![a-z]))[A-Za-z]+{_INDEX}?(?:\s?\([a-z]\))?",
        # \theta, \lambda_1, \delta_{\max}, \kappa(t)
        r"\\(?:vec|overline|overrightarrow|hat|bar|d?dot)\s?\{(?:[A-Za-z ]{1,4}|\\[a-z]{2,7} ?)\}"
        r"(?:_\{?\w{1,3}\}?)?'{0,2}(?:\s?\([A-Za-z]\))?",
        r"[A-Za-z]'{0,2}(?:\^\{-1\})?\([A-Za-z0-9,| ]{1,9}\)|[A-Za-z]_\{?\w{1,3}\}?\s?\([a-z]\)",  # f(x), y_p(x)
        rf"[A-Za-z]'{{0,2}}\(-?(?:[\d./]{{1,9}}|{_FRACTION})\)",  # f(-2), f(\frac{2\pi}{3})
        r"[PE]\s?[(\[][^()\[\]=<>]{1,30}[)\]]",  # probabilities and expected values
        r"p\s?(?:O?H|K(?:_\{?\s?\w{1,3}\s?\}?)?)",  # pH, pK_a
        r"[pPzZtTF]\s?-\s?(?:value|score|statistic|stat|ratio)|df|d\.f\.?",  # of a test
        r"[Rs]\^\{?2\}?|\\(?:chi|sigma)\^\{?2\}?",
        r"[A-Za-z](?:_\w)?\^\{?(?:\*|\\ast|\\star)\}?|[PQpq]\^\{?[dsDS]\}?",  # R^2, Q^*
        r"[A-Z]°(?:_\{?\s?\w{1,9}\s?\}?)?",  # a standard potential
        r"\[(?:[A-Z][a-z]?(?:_\{?\d\}?)?){1,4}\^\{?\d?[-+]\}?\]",  # [H^+]
        r"[A-Z]{2,3}|[A-Z](?:\s?\\(?:cap|cup|setminus)\s?[A-Z]){1,2}",  # AB, A \cap B
        r"(?:m\s?)?\\(?:angle|triangle)\s?[A-Z]{1,3}|\|[A-Z]{1,2}\||\[[A-Z]{3,6}\]",  # angles, lengths, areas
        r"\|\s?[uvwzF]\s?\||\\\|[^|]{1,20}\\\|",  # norms
        rf"{_PART}(?:\s?[:/]\s?{_PART}){{1,3}}|\\frac\{{{_PART}\}}\{{{_PART}\}}",  # ratios
        r"\\(?:max|min|sup|inf|lim|det|dim|deg|arg)(?![a-z])[^=<>]{1,60}",
        r"\\frac\{(?:d|\\partial)(?:\^\{?2\}?)?\s?[a-zA-Z]\}\{(?:(?:d|\\partial)\s?[a-zA-Z](?:\^\{?2\}?)?\s?){1,2}\}",
        r"\\nabla\s?[A-Za-z](?:\s?\([^()=<>]{1,20}\))?",
        r"(?!(?:not|sin|cos|tan|cot|sec|csc|log|exp)\b)[A-Za-z][a-z]{2,20}(?: [A-Za-z]{1,20}){0,4}",  # words
    )
)
_NAMED = lazy_compile(rf"(?:{_NAME})")
# Of a vector or a matrix: 3\vec{a}-2\vec{b}, A^{-1}, [T]_B; no equation of coordinates or of matrices.
_NAMED_FREELY = lazy_compile(r"(?!\(?\s?[a-z]\s?,)(?=.*[A-Za-z])(?:(?!\\begin|\\langle|[<>]).){1,80}", re.DOTALL)
_ENDS_LIKE_A_VECTOR = lazy_compile(r"(?:[)\]]|\\rangle|\\end\{\w+\})(?:\s?\^\s?\{?\s?(?:T|\\top)\s?\}?)?\Z")
_COORDINATE = r"(?:[a-z](?:_?\d)?|[A-Za-z](?:_\w|_\{\w{1,3}\})?(?:\^\{?(?:\*|\\ast|\\star)\}?)?)"
_NAMED_TUPLE = lazy_compile(rf"\(\s?{_COORDINATE}(?:\s?,\s?{_COORDINATE})+\s?\)")
_ELEMENT_OF = lazy_compile(rf"({_NAME})\s*\\in(?![a-z])\s*(.+)", re.DOTALL)
_INFINITY = lazy_compile(r"(-?)\s?inf(?:inity)?", re.IGNORECASE)
_LEAD = lazy_compile(
    r"(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|my\s)?(?:final\s|correct\s)?answer\s?(?:is\b|[:=])\s*"
    r"|(?:so|thus|hence|therefore),?\s(?=(?:[A-Za-z]|\\[A-Za-z]{2,8})(?:_\{?[\\\w]{1,9}\}?)?\s?=)"
    r"|(?:for )?all\s(?=[a-z]\s?(?:[<>]|\\(?:le|ge|ne|in)))"
    r"|(?:domain|range|solution(?: set)?|interval)\s?:\s*|(?:the )?(?:open |closed |half-open )?interval\s(?=[(\[])",
    re.IGNORECASE,
)
_RELATION = lazy_compile(r"[<>]|\\(?:le|ge|ne|in|approx|equiv)(?![a-z])")
_SUCH_THAT = lazy_compile(r"\s*([a-z])\s*(?:\\in\s*\\mathbb\{R\}\s*)?(?:\\mid(?![a-z])|\||:)(.*)", re.DOTALL)
_ALL_REALS = lazy_compile(r"(?:the set of )?(?:all |the )?(?:reals|real numbers?)", re.IGNORECASE)
_MINUS_SET = lazy_compile(r"(?<=[)\]}])\s*-\s*(?=\\\{)")  # (0,5) - \\{2\\}
_ANGLE = lazy_compile(r"(?<![A-Za-z])(?:sin|cos|tan|cot|sec|csc)(?![a-z]).*°", re.DOTALL)
_DEGREES = lazy_compile(r"(\d+(?:\.\d+)?)\s*°")
_PLUS_MINUS = lazy_compile(r"\\pm(?![A-Za-z])")
_MINUS_PLUS = lazy_compile(r"\\mp(?![A-Za-z])")
_MATRIX = lazy_compile(
    r"(?:\(\s*|\[\s*)?\\begin\{([pb]?matrix|array)\}\s*(?:\{[lcr| ]*\})?"
    r"((?:(?!\\(?:begin|end)\{).)*)\\end\{\1\}(?:\s*[)\]])?",
    re.DOTALL,
)
_OPERATOR = lazy_compile(r".\+|\\(?:det|tr|rank|sum|prod|lim|int|ln|log)(?![a-z])|\{(?:det|tr|rank)\}")
_FACTOR_OF_MATRIX = lazy_compile(
    r"(?P<factor>(?:(?!\\begin|\\langle|[=,<>&]).){1,60}?)(?P<matrix>(?:\(\s*|\[\s*)?\\begin\{(?:[pb]?matrix|array)\}.*)",
    re.DOTALL,
)
_MULTIPLE = lazy_compile(
    r"(?P<factor>(?:\\pm\s?|-\s?)?(?:\d{1,6}|\\frac\{\d{1,6}\}\{(?:\d{1,6}|\\sqrt\{\d{1,6}\})\}|\d{1,3}/\d{1,3}"
    r"|\\sqrt\{\d{1,6}\})?)\s?(?P<vector>(?:\(|\\langle).*(?:\)|\\rangle))",
    re.DOTALL,
)
_COLUMN = lazy_compile(
    r"[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]\s?\^\s?\{?\s?(?:T|\\top|\\intercal|\\math(?:sf|rm)\s?\{?T\}?)\s?\}?"
)
_COMMAND = lazy_compile(r"\\[A-Za-z]+|(?<![A-Za-z])(?:sqrt|sin|cos|tan|log|ln|pi)(?![A-Za-z])")
_CELL = lazy_compile(r"-?\d+(?:\.\d+)?")
_WORD = lazy_compile(r"(?<![A-Za-z\\])[a-z]{4,} [a-z]\Z")  # 2 oder x
_GREEK = lazy_compile(rf"\\(?:{GREEK}|Gamma)(?![A-Za-z])")
_MATHEMATICAL = lazy_compile(r"[^\d\\]*[\d\\]|(?:-?[A-Za-z]|\([A-Za-z]\))\Z")
_PLACES = lazy_compile(r"\.(\d+)")
_VARIABLE = lazy_compile(r"[A-Za-df-hj-z]")  # e and i are numbers


@lru_cache(maxsize=1024)  # a hostile answer takes up to 0.25 MiB
def parse(text: str) -> ParsedAnswer:
    """Parse an answer. Raises ``OverLimitError`` if it is larger than any honest answer."""
    if len(text) > MAX_LENGTH:
        raise OverLimitError(f"an answer of {len(text)} characters is too long")
    if text.isdecimal() and (number := read_number(text)):
        return ParsedAnswer(text, number)
    plain = english(normal(_grid(text) if "\n" in text else text))
    if plain[:1].isalpha() and (lead := _LEAD.match(plain)):
        plain = normal(plain[lead.end() :])
    return _parse(plain, MAX_NESTING)


def _grid(text: str) -> str:
    """Lines of numbers, ``1 2\\n3 4``, as a matrix; anything else as it stands."""
    rows = [line.split() for line in text.strip().splitlines()]
    is_grid = len(rows) > 1 and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1
    if not is_grid or not all(_CELL.fullmatch(cell) for row in rows for cell in row):
        return text
    return r"\begin{pmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{pmatrix}"


def as_set(answers: tuple[ParsedAnswer, ...]) -> ParsedAnswer:
    """Several answers as one set."""
    return ParsedAnswer(", ".join(answer.text for answer in answers), Group("set", answers))


def _parse(text: str, depth: int) -> ParsedAnswer:
    """Parse a text in normal spelling whose brackets may be nested ``depth`` deep."""
    if depth == 0:
        raise OverLimitError("brackets are nested too deeply")
    if text.startswith("{"):
        text = unwrapped(text)
    text = text.lstrip("+ ")
    if "inf" in text.lower() and (match := _INFINITY.fullmatch(text)):
        text = match[1] + "\\infty"
    if number := read_number(text):
        return ParsedAnswer(text, number)
    if "\\approx" in text and (approximation := _approximation(text, depth)):
        return approximation
    if "=" in text and (equation := _equation(text, depth)):
        return equation
    if _RELATION.search(text) and (relation := _relation(text, depth)):
        return relation
    return ParsedAnswer(text, _other_content(text, depth))


# Equations and relations


def exact_part(text: str) -> str:
    r"""The exact side of ``x = \frac13 \approx 0.33``; the decimal as the value of a name in ``x \approx 0.33``."""
    sides = split(text, "\\approx")
    if len(sides) == 1:
        return text
    exact, decimal = sides[0], sides[-1]
    if not exact:
        return decimal
    value = split(exact, "=")[-1]
    if _NAMED.fullmatch(value) or (value == exact and not _is_constant(value)):
        return f"{exact} = {decimal}" if _NAMED.fullmatch(exact) else decimal
    return decimal if _is_decimal(value) and _is_constant(decimal) and not _is_decimal(decimal) else exact


def _is_decimal(text: str) -> bool:
    return read_number(text) is not None and "." in text


def _approximation(text: str, depth: int) -> ParsedAnswer | None:
    r"""``\frac13 \approx 0.33`` as the exact side, if the other one is a decimal that agrees with it."""
    exact = exact_part(text)
    decimal = next((side for side in split(text, "\\approx") if side != exact and _is_decimal(side)), "")
    side = split(exact, "=")[-1]
    if not decimal or exact == decimal or not (_is_constant(side) or read_number(side)):
        return None
    value = _parse(exact, depth - 1)
    near, number = approximate(value.content), read_number(decimal)
    places = _PLACES.search(decimal)
    if near is None or number is None or places is None:
        return None
    unit = value.content.unit if isinstance(value.content, Number | Formula) else ()
    if number.unit and unit != number.unit:
        return None
    return value if _is_rounded(near, number.value, len(places[1])) else None


def _is_rounded(exact: Fraction, decimal: Fraction, places: int) -> bool:
    """Whether a decimal is another number rounded to so many places, or cut off after them."""
    excess = (abs(exact) - abs(decimal)) * 10**places
    return exact * decimal >= 0 and Fraction(-1, 2) <= excess < 1


def _equation(text: str, depth: int) -> ParsedAnswer | None:
    """``x = 5``, ``(x,y) = (1,2)``, chains such as ``2+3 = 5`` and ``x = 10/2 = 5``; ``None`` for other equations."""
    sides = split(text, "=")
    if len(sides) < 2 or not all(sides) or _RELATION.search(text):  # the sign is inside of \sum_{i=1}^3
        return None
    if len(sides) == 2 and (definition := _definition(text, sides[0], sides[1], depth)):
        return definition
    return _chain(text, sides, depth)


def _definition(text: str, name: str, value: str, depth: int) -> ParsedAnswer | None:
    """``x = 5``, ``5 = x`` or ``(x,y) = (1,2)``, with what the name stands for."""
    if _NAMED.fullmatch(value) and not _NAMED.fullmatch(name):
        name, value = value, name
    if _NAMED.fullmatch(name) and (len(items(value)) == 1 or read_number(value)):
        return ParsedAnswer(text, _parse(value, depth - 1).content, name, value)
    if (
        not _NAMED_TUPLE.fullmatch(name)
        and _NAMED_FREELY.fullmatch(name)
        and _ENDS_LIKE_A_VECTOR.search(value)
        and len(items(name)) == 1
    ):
        vector = _parse(value, depth - 1)
        is_vector = isinstance(vector.content, Group) and vector.content.kind in ("matrix", "<>", "()")
        return ParsedAnswer(text, vector.content, name, value) if is_vector and not vector.variable else None
    if _NAMED_TUPLE.fullmatch(name) and (outer(value)[0] == "()" or _multiple(value, depth)):
        return ParsedAnswer(text, _parse(value, depth - 1).content, name.replace(" ", ""), value)
    return None


def _chain(text: str, sides: list[str], depth: int) -> ParsedAnswer | None:
    """Sides that are all constants, such as ``2+3 = 5``; of a longer chain the first ones may be formulas of a name."""
    if len(sides) > 2 and any(len(items(side)) > 1 or _WORD.search(side) for side in sides[1:]):
        return None
    named = _NAMED.fullmatch(sides[0]) is not None
    constants = [side for side in sides if _is_constant(side)]
    if constants and sides[-1] not in constants and read_number(sides[-1]):  # V = 2 * 4.5 = 9 m^3
        constants.append(sides[-1])
    if not (constants and (len(constants) == len(sides) or (len(sides) > 2 and named))):
        return None
    values = tuple(_parse(side, depth - 1) for side in constants)
    content = values[0].content if len(values) == 1 else Group("chain", values)
    names = [side for side in sides if _NAMED.fullmatch(side)]
    return ParsedAnswer(text, content, "=".join(names) if named else None, constants[-1])


def _is_constant(side: str) -> bool:
    if number := read_number(side):
        return number.bare
    formula = split_unit(side)[0]
    return len(items(side)) == 1 and not (_GREEK.search(formula) or _VARIABLE.search(_COMMAND.sub("", formula)))


def _relation(text: str, depth: int) -> ParsedAnswer | None:
    r"""``x \in (1,2)`` or an inequality."""
    match = _ELEMENT_OF.fullmatch(text) if "\\in" in text else None
    if match and len(items(match[2])) == 1:
        return ParsedAnswer(text, _content(match[2].strip(), depth - 1), match[1], match[2].strip())
    if len(parts := split(text, ":")) == 2 and all(parts):  # x<2: (-\infty,2)
        sides = tuple(_parse(part, depth - 1) for part in parts)
        return ParsedAnswer(text, Group("chain", sides)) if real_set(sides[1].content) else None
    if region := inequality(text, lambda end: _parse(end, depth - 1)):
        return ParsedAnswer(text, region[1], region[0], text)
    return None


# Values


def _content(text: str, depth: int) -> Content:
    """What a text stands for."""
    return read_number(text) or _other_content(text, depth)


def _other_content(text: str, depth: int) -> Content:
    """What a text that is no number stands for: the first of these that it can be."""
    return (
        _matrix(text, depth)
        or _multiple_of_matrix(text, depth)
        or _column(text, depth)
        or _named_set(text)
        or _set_operation(text, depth)
        or _bracketed(text, depth)
        or _multiple(text, depth)
        or _listed(text, depth)
        or read_words(text)
        or _ratio(text, depth)
        or _formula(text)
    )


def _ratio(text: str, depth: int) -> Content | None:
    """A ratio as its value: of two parts their quotient, of more each part divided by the last one."""
    parts = split(text, ":")
    if len(parts) < 2 or not all(part and _PART_OF_RATIO.fullmatch(part) for part in parts):
        return None
    *rest, last = [_parse(part, depth - 1) for part in parts]
    quotients = [quotient for part in rest if (quotient := _quotient(part, last))]
    if len(quotients) < len(rest):
        return None
    return quotients[0].content if len(rest) == 1 else Group("ratio", tuple(quotients))


def _quotient(part: ParsedAnswer, last: ParsedAnswer) -> ParsedAnswer | None:
    if isinstance(part.content, Number) and isinstance(last.content, Number):
        quotient = part.content.value / last.content.value if last.content.value else None
        return None if quotient is None else ParsedAnswer(f"{part.text}/{last.text}", Number(quotient))
    text = rf"\frac{{{part.text}}}{{{last.text}}}"
    return ParsedAnswer(text, Formula(text))


def _matrix(text: str, depth: int) -> Group | None:
    match = _MATRIX.fullmatch(text) if "\\begin" in text else None
    if match is None:
        return None
    rows = [row for row in split(match[2], "\\\\") if row]
    return Group("matrix", tuple(ParsedAnswer(row, _row(row, depth)) for row in rows))


def _multiple_of_matrix(text: str, depth: int) -> Group | None:
    r"""``\frac{1}{2}\begin{pmatrix}…``, ``-\begin{bmatrix}…`` and ``e^{t}\begin{bmatrix}…``, multiplied out."""
    match = _FACTOR_OF_MATRIX.fullmatch(text) if "\\begin" in text else None
    matrix = _matrix(match["matrix"], depth) if match else None
    if match is None or matrix is None or _OPERATOR.search(match["factor"]):
        return None
    factor = match["factor"].strip().removesuffix("\\cdot").strip()
    rows = [row.content for row in matrix.items if isinstance(row.content, Group)]
    products = [[_parse(_times(factor, cell.text), depth - 1) for cell in row.items] for row in rows]
    texts = [" & ".join(cell.text for cell in cells) for cells in products]
    return Group(
        "matrix",
        tuple(ParsedAnswer(text, Group("row", tuple(cells))) for text, cells in zip(texts, products, strict=True)),
    )


def _column(text: str, depth: int) -> Group | None:
    """``(1, 2)^T`` or ``[1, 2]^T``."""
    match = _COLUMN.fullmatch(text) if "^" in text and text[0] in "([" else None
    if match is None:
        return None
    rows = [row for row in items(match[1]) if row]
    return Group("matrix", tuple(ParsedAnswer(row, _row(row, depth)) for row in rows))


def _row(text: str, depth: int) -> Group:
    return Group("row", tuple(_parse(cell, depth - 1) for cell in split(text, "&")))


def _named_set(text: str) -> Group | None:
    if text == "\\emptyset":
        return Group("set", ())
    return REALS if text == "\\mathbb{R}" or (text[:1] in "atrATR" and _ALL_REALS.fullmatch(text)) else None


def _set_operation(text: str, depth: int) -> Group | None:
    parts = split(text, "\\cup")
    if len(parts) > 1:
        return Group("union", tuple(_parse(part, depth - 1) for part in parts))
    parts = split(_MINUS_SET.sub(r"\\setminus ", text) if "\\{" in text else text, "\\setminus")
    if len(parts) == 2:
        whole, removed = (real_set(_parse(part, depth - 1).content) for part in parts)
        return group(rest) if whole and removed and (rest := without(whole, removed)) else None
    return None


def _bracketed(text: str, depth: int) -> Content | None:
    """A tuple, an interval, a set in braces, or a number in brackets."""
    kind, inner = outer(text)
    parts = items(inner) if kind else []
    if kind == "{}":
        return _such_that(inner, depth) or Group("set", tuple(_expanded(parts, depth)))
    if kind == "()" and _PLUS_MINUS.search(inner):
        return None  # a list of tuples
    if len(parts) > 1:
        return Group(kind, tuple(_parse(part, depth - 1) for part in parts))
    if len(parts) == 1 and read_number(parts[0]):
        return _content(parts[0], depth - 1) if kind == "()" else Group(kind, (_parse(parts[0], depth - 1),))
    return None


def _multiple(text: str, depth: int) -> Group | None:
    r"""A number times a vector, ``\frac{1}{5}\langle 3, 4\rangle``, or both signs of one, ``\pm(1, 1, 1)``."""
    match = _MULTIPLE.fullmatch(text) if text.endswith((")", "\\rangle")) else None
    kind, inner = outer(match["vector"]) if match else ("", "")
    parts = items(inner) if kind in ("()", "<>") else []
    if match is None or len(parts) < 2 or _PLUS_MINUS.search(inner):
        return None
    factor = match["factor"].strip()
    factors = (factor.replace("\\pm", "", 1), factor.replace("\\pm", "-", 1)) if "\\pm" in factor else (factor,)
    vectors = [
        Group(kind, tuple(_parse(_times(factor.strip(), part), depth - 1) for part in parts)) for factor in factors
    ]
    if len(vectors) == 1:
        return vectors[0]
    return Group("set", tuple(ParsedAnswer(text, vector) for vector in vectors))


def _times(factor: str, part: str) -> str:
    """A product, as a number where both are numbers."""
    sign = {"": Fraction(1), "-": Fraction(-1)}.get(factor)
    one = read_number(factor) if sign is None else Number(sign)
    other = read_number(part)
    if one and other and not (one.unit or other.unit):
        return str(one.value * other.value)
    return f"{factor}({part})"


def _such_that(inner: str, depth: int) -> Group | None:
    r"""The region that ``\{x \mid x<2\}`` describes."""
    match = _SUCH_THAT.fullmatch(inner)
    region = inequality(match[2].strip(), lambda end: _parse(end, depth - 1)) if match else None
    return region[1] if match and region and region[0] == match[1] else None


def _listed(text: str, depth: int) -> Group | None:
    r"""A list without brackets, or the two values of ``\pm``, as a set."""
    parts = items(text)
    is_list = len(parts) > 1 and all(_MATHEMATICAL.match(part) for part in parts)
    if is_list or (len(parts) == 1 and _PLUS_MINUS.search(text)):
        return Group("set", tuple(_expanded(parts, depth)))
    return None


def _expanded(parts: list[str], depth: int) -> Iterator[ParsedAnswer]:
    r"""The parts, and for each with ``\pm`` all its values."""
    for part in parts:
        signs = len(_PLUS_MINUS.findall(part))
        if signs > MAX_SIGNS:
            raise OverLimitError("too many plus-minus signs")
        for sign, opposite in (("+", "-"), ("-", "+")) if signs else ():
            value = _parse(_MINUS_PLUS.sub(opposite, _PLUS_MINUS.sub(sign, part, count=1)), depth - 1)
            yield from value.content.items if signs > 1 and isinstance(value.content, Group) else (value,)
        if not signs:
            yield _parse(part, depth - 1)


def _with_degrees(text: str) -> str:
    r"""A formula with angles in radians where a function takes them, else with one degree sign at its end."""
    if _ANGLE.search(text):
        return _DEGREES.sub(r"\\frac{\1\\pi}{180}", text)
    return text if text.endswith("°") else re.sub(r"\s*°", "", text) + "°"  # \frac{1170°}{19}


def _formula(text: str) -> Content:
    """A formula for computer algebra, unless it has words in it."""
    if "°" in text:
        text = _with_degrees(text)
    formula = Formula(*split_unit(text))
    if read_prose(formula.text):
        return read_prose(text) or Words(text)
    return formula
