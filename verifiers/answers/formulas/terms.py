r"""Terms that algebra takes for variables: ``P(A\mid B)``, ``(\frac{\partial S}{\partial V})_T``, ``[x,p]``, ``y''``.

A formula in which they are unknown quantities is equal to another one only if it holds whatever they are. Two spellings
of one term have to become one name: ``u_{xx}`` for the second derivative by x, and the opposite for ``[p,x]``.
"""

from __future__ import annotations

import hashlib
import re

from grpo_env.lazy_regex import lazy_compile

from .grammar import GREEK

MAX_LENGTH = 1000
MAX_TERM = 60

_SYMBOL = rf"(?:[A-Za-z]|\\(?:{GREEK}|hbar)(?![A-Za-z]))(?:\s?_\s?(?:\{{\w{{1,12}}\}}|\w))?"
_MAY_HAVE_TERMS = lazy_compile(
    r"\\(?:partial|mid|nabla|langle|\||lVert|Vert|Pr|cap|cup)(?![a-z])|[|\[;']|\{\}\s?_|\\prime|\\frac\s?\{\s?d|\A_|=\s?_"
    r"|_\{(?:bar|overline)\}|\^\s?\{?\s?(?:c|C|\\complement)(?![a-z])"
)
_ORDER = r"(?:\s?\^\s?\{?\s?(?P<order>\d)\s?\}?)?"
_HELD = r"_\s?(?:\{(?P<held>[^{}]{1,12})\}|(?P<held_>\w))"
_BY = rf"(?:\\partial\s?{_SYMBOL}(?:\s?\^\s?\{{?\s?\d\s?\}}?)?\s?)"
_PARTIAL = (
    rf"\\frac\s?\{{\s?\\partial{_ORDER}\s?(?P<of>{_SYMBOL})\s?\}}\s?\{{\s?(?P<by>{_BY}{{1,4}})\}}"
    rf"|\\partial\s?(?P<of_>{_SYMBOL})\s?/\s?(?P<by_>\\partial\s?{_SYMBOL})"
)
_PARTIALS = lazy_compile(rf"\(\s?(?:{_PARTIAL})\s?\)\s?{_HELD}")
_PARTIALS_AT = lazy_compile(rf"\.?\s?(?:{_PARTIAL})\s?\|\s?{_HELD}")
_PLAIN_PARTIALS = lazy_compile(_PARTIAL)
_BY_ONE = lazy_compile(rf"\\partial\s?(?P<symbol>{_SYMBOL})(?:\s?\^\s?\{{?\s?(?P<times>\d)\s?\}}?)?")
_OPERATOR = lazy_compile(
    rf"\\partial\s?_\s?(?:\{{(?P<by>[a-z]{{1,4}})\}}|(?P<by_>[a-z]))(?:\s?\^\s?\{{?(?P<times>[2-4])\}}?)?\s?(?P<of>{_SYMBOL})"
)
_RATE = lazy_compile(
    rf"\\frac\s?\{{\s?d{_ORDER}\s?(?P<of>{_SYMBOL})\s?\}}\s?\{{\s?d\s?(?P<by>[a-z])(?:\s?\^\s?\{{?\s?\d\s?\}}?)?\s?\}}"
    rf"|(?<![A-Za-z\\])d(?P<of_>[A-Za-z])\s?/\s?d(?P<by_>[a-z])(?![A-Za-z])"
)
_PRIMES = lazy_compile(
    rf"(?P<of>{_SYMBOL})\s?(?:(?P<primes>'{{1,4}})|\^\s?\{{?\s?(?P<commands>(?:\\prime\s?){{1,4}})\}}?)(?!\s?[\('\[])"
)
_GREEK_INDEX = lazy_compile(rf"(?:{GREEK})")
_DOTTED = lazy_compile(r"(?P<of>[A-Za-z]|\\[a-z]+)_\{(?P<dots>d?)dot(?P<rest>\w*)\}")
_TOTAL = lazy_compile(
    rf"\\frac\s?\{{\s?d\s?\}}\s?\{{\s?d\s?(?P<by>[a-z])\s?\}}\s?(?:\(\s?(?P<of>{_SYMBOL})\s?\)|(?P<of_>{_SYMBOL})(?=\s?(?:[-+=)]|\Z)))"
)
_HEAD = lazy_compile(
    r"(?<![A-Za-z\\])(?P<head>\\Pr(?![a-z])|\{?(?:Var|Cov|KL|E)\}?|D_\{?K?L?\}?|[PpHIEfqK])\s?(?P<open>[(\[\{]|\\\{)"
)
_PROBABILITY = frozenset(("P", "p", "\\Pr"))
_RELATION = lazy_compile(r"\\(?:le|ge|ne|in|leq|geq|lt|gt)(?![a-z])|[<>=]")
_GIVEN = lazy_compile(r"\\mid(?![a-z])|\\(?:\||Vert|parallel)|;|\\c[au]p(?![a-z])")
_NOT = lazy_compile(
    r"\\(?:bar|overline)\s?\{\s?([A-Za-z])\s?\}|([A-Za-z])_\{(?:bar|overline)\}|\\(?:neg|lnot)\s?([A-Za-z])|([A-Z])'"
    r"|([A-Z])\s?\^\s?\{?\s?(?:c|C|\\complement)\s?\}?"
)
_NORM = lazy_compile(
    r"(?:\\\||\\[lr]?Vert(?![a-z]))\s?(?P<of>(?:(?!\\\||Vert).){1,40}?)\s?(?:\\\||\\r?Vert(?![a-z]))"
    r"(?:\s?_\s?(?:\{(?P<index>[^{}]{1,8})\}|(?P<index_>\w|\\infty)))?"
)
_COMMUTATOR = lazy_compile(rf"\[\s?(?P<one>{_SYMBOL})\s?,\s?(?P<other>{_SYMBOL})\s?\]")
_NABLA = lazy_compile(
    rf"(?:\\nabla(?![a-z])|\\vec\{{\\nabla\}})\s?(?P<how>\\cdot|\\times|\^\s?\{{?\s?2\s?\}}?)?\s?(?P<of>{_SYMBOL})"
)
_BRAKET = lazy_compile(r"\\langle\s?(?P<of>[^<>=+]{1,40}?)\s?\\rangle")
_SURVIVAL = lazy_compile(
    r"(?:\{\}\s?|(?<=\A)|(?<=[=+]\s)|(?<==))_\s?\{?(?P<years>\w{1,3})\}?\s?(?P<what>[pq])_\s?\{?(?P<age>[\w+]{1,5})\}?"
)


def as_names(gold: str, answer: str) -> tuple[str, str]:
    """Two formulas in normal LaTeX with names of variables for their terms."""
    if not any(_MAY_HAVE_TERMS.search(text) or "dot" in text for text in (gold, answer)):
        return gold, answer
    if max(len(gold), len(answer)) > MAX_LENGTH:
        return gold, answer
    by = {variable for text in (gold, answer) for variable in _variables(text)}
    return _named(gold, len(by) < 2), _named(answer, len(by) < 2)


def _variables(text: str) -> set[str]:
    """The variables of the derivatives of one variable; those with dots are by time."""
    by = {match["by"] or match["by_"] for match in _RATE.finditer(text)}
    return by | {"t"} if _DOTTED.search(text) else by


def _named(text: str, one_variable: bool) -> str:
    """The formula; primes are derivatives by the variable of all others if there is only one."""

    def rate(match: re.Match[str]) -> str:
        by = match["by"] or match["by_"]
        order = int(match.groupdict().get("order") or 1)
        return _indexed(match["of"] or match["of_"], _dots(order) + ("" if one_variable else by))

    def dots(match: re.Match[str]) -> str:
        letter, rest, order = match["of"], match["rest"], 2 if match["dots"] else 1
        if greek := _GREEK_INDEX.match(rest):
            letter, rest = f"\\{greek[0]}", rest[greek.end() :]
        return _indexed(letter, rest + _dots(order) + ("" if one_variable else "t"))

    def primes(match: re.Match[str]) -> str:
        return _indexed(match["of"], _dots(len(match["primes"] or "") or match["commands"].count("prime")))

    for pattern in (_PARTIALS, _PARTIALS_AT, _PLAIN_PARTIALS):
        text = pattern.sub(_partial, text)
    text = _OPERATOR.sub(_by_operator, text)
    text = _probabilities(text)
    text = _RATE.sub(rate, text)
    text = _PRIMES.sub(primes, text)
    text = _DOTTED.sub(dots, text)
    if "=" in text or ">" in text or "<" in text:
        text = _COMMUTATOR.sub(_commutator, text)
    text = _NORM.sub(lambda match: _name("norm", _of_norm(match["of"]), match["index"] or match["index_"] or "2"), text)
    text = _NABLA.sub(lambda match: _name("nabla", match["how"] or "", match["of"]), text)
    text = _BRAKET.sub(lambda match: match[0] if "," in match["of"] else _name("mean", match["of"]), text)
    text = _SURVIVAL.sub(lambda match: _name("survival", match["years"], match["what"], match["age"]), text)
    return _TOTAL.sub(rate, text)


def _dots(order: int) -> str:
    """The index of a derivative, as ``\\dot{x}`` has it."""
    return ("", "dot", "ddot")[order] if order < 3 else f"dot{order}"


def _name(*parts: str) -> str:
    """A variable for a term, with braces around it so that an exponent belongs to all of it."""
    canonical = "\0".join(re.sub(r"[{}\s]", "", part) for part in parts)
    return f"q_{{t{hashlib.sha256(canonical.encode()).hexdigest()[:10]}}}"


def _indexed(symbol: str, index: str) -> str:
    """A symbol with a further index."""
    letter, _, own = re.sub(r"[{}\s]", "", symbol).partition("_")
    whole = own + index
    return f"{letter}_{{{whole}}}" if len(whole) <= 12 else _name(letter, whole)


def _partial(match: re.Match[str]) -> str:
    r"""``u_{xx}`` for the second derivative by x, ``S_{VatT}`` for one at constant T."""
    groups = match.groupdict()
    by: list[str] = []
    for one in _BY_ONE.finditer(match["by"] or match["by_"]):
        by += [re.sub(r"[{}\s_\\]", "", one["symbol"])] * int(one["times"] or 1)
    if match["of"] and int(match["order"] or 1) != len(by):
        return match[0]
    held = groups.get("held") or groups.get("held_") or ""
    at = "at" + "".join(sorted(re.findall(r"\w", held))) if held else ""
    return _indexed(match["of"] or match["of_"], "".join(sorted(by)) + at)


def _by_operator(match: re.Match[str]) -> str:
    return _indexed(match["of"], "".join(sorted((match["by"] or match["by_"]) * int(match["times"] or 1))))


def _probabilities(text: str) -> str:
    r"""Names for ``P(A\mid B)``, ``P(X > 2)``, ``E[X|Y]``, ``I(X;Y)``, whose brackets hold no argument."""
    pieces, at = [], 0
    for match in _HEAD.finditer(text):
        if match.start() < at:
            continue
        end = _closing(text, match.end("open") - 1)
        inside = text[match.end() : end]
        if end < 0 or not _is_term(match["head"], inside):
            continue
        pieces += [text[at : match.start()], _name(match["head"].strip("{}"), _events(inside))]
        at = end + 1
    return "".join(pieces) + text[at:]


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at a place is closed; -1 if it is not, or too far away."""
    depth = 0
    for place in range(start, min(len(text), start + MAX_TERM)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if not depth:
            return place
    return -1


def _is_term(head: str, inside: str) -> bool:
    if _GIVEN.search(inside) or inside.count("|") % 2:
        return True
    return head in _PROBABILITY and bool(_RELATION.search(inside) or _NOT.search(inside))


def _events(inside: str) -> str:
    r"""The events in one spelling: ``A\cap B`` and ``B, A``; ``A^c`` and ``\bar{A}``."""
    inside = _NOT.sub(lambda match: f"{next(filter(None, match.groups()))}^c", inside)
    bars = 1 if inside.count("|") % 2 else 0
    sides = re.split(r"\\mid(?![a-z])|\|" if bars else r"\\mid(?![a-z])", inside)
    return "|".join(
        "&".join(sorted(re.sub(r"\s", "", part) for part in re.split(r"\\cap(?![a-z])|,", side))) for side in sides
    )


def _commutator(match: re.Match[str]) -> str:
    one, other = match["one"], match["other"]
    if one == other:
        return "0"
    first, second = sorted((one, other))
    name = _name("commutator", first, second)
    return name if first == one else rf"\frac{{-{name}}}{{1}}"


def _of_norm(inside: str) -> str:
    r"""The same for ``x-y`` and ``y-x``."""
    parts = inside.split("-")
    return "-".join(sorted(part.strip() for part in parts)) if len(parts) == 2 and all(parts) else inside
