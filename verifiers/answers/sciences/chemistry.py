# ruff: noqa: RUF001, RUF002  (Greek letters)
r"""Chemistry beside formulas: products of concentrations, names of compounds, ligands of complexes.

Each function reads one form, and returns ``None`` for any other text. Texts are in the spelling of ``codes.plain``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..codes.chemical import is_chemical
from ..vocabulary.elements import NUMBERS
from .compound_names import formula_of, ion_of, symbol_of

MAX_LENGTH = 200
MAX_FACTORS = 12

_NAME = lazy_compile(r"[KQ](?:_\{?\w{1,4}\}?)?'?|[Rr]ate|[rv]")
_SAME_NAME = {"Kc": "K", "Keq": "K", "Rate": "r", "rate": "r", "v": "r", "Qc": "Q"}
_CONSTANT = lazy_compile(r"k(?:_\{?\w{1,4}\}?|')?")
_SPECIES = lazy_compile(r"(?=.{0,3}[A-Z]|[a-z ]{3})[A-Za-z(\[][\w()\[\]^+\-. ]{0,40}")
_SURE = lazy_compile(r"[-+]\]|[A-Z]\w*\d")  # [Ag^+], [N_2]
_EXPONENT = lazy_compile(r"\s?\^\s?[{(]?(-?\d{1,2}(?:/[1-9])?)[)}]?")
_BETWEEN = lazy_compile(r"\s*(?:·|x|\*)?\s*")
_FRACTION = "\\frac{"
_NOTHING = "?"  # no product
_DISPLAYED = lazy_compile(r"\\[dt]?frac\s?\{")
_SIGNS = lazy_compile(r"[_^{}\s]")
_AND = lazy_compile(r"\s?,\s(?:and\s)?|\s?;\s?|\sand\s|\s[&+]\s")
_FORMULA = lazy_compile(r"[A-Z]\w*[A-Z\d]|\d?[-+]\Z|[A-Z]\w*[)(]")  # no single element
_PHASE = lazy_compile(r"\((?:s|l|g|aq)\)\Z")
_NAME_AND_FORMULA = lazy_compile(r"([^(),]+?)(?:,| \()\s?((?:[^(),]|\([^()]*\))+?)\)?")
_COMPLEX = lazy_compile(r"(?P<before>[^\[\]]{0,20})\[(?P<inner>[A-Z][^\[\]]{2,40})\](?P<after>[^\[\]]{0,20})")
_LIGAND = lazy_compile(r"\([^()]+\)\d*|[A-Z][a-z]?\d*")
_COUNTED_BONDS = lazy_compile(r"(\d{1,3}) \\?(sigma|pi|σ|π)")
_BONDS = lazy_compile(
    r"\d{1,3} \\?(?:sigma|σ)(?: bonds?)?(?:,? and |, | \+ |; )\d{1,3} \\?(?:pi|π)(?: bonds?)?"
    r"|\d{1,3} \\?(?:pi|π)(?: bonds?)?(?:,? and |, | \+ |; )\d{1,3} \\?(?:sigma|σ)(?: bonds?)?"
)
_SIGN_FIRST = lazy_compile(r"\^([+-])(\d)\Z")  # Fe^+3

_STEM = "(?:meth|eth|prop|but|pent|hex|hept|oct|non|dec)"
_GROUP = "(?:di|tri)?(?:ol|one|amine|ene|yne|thiol|al)"
_SUFFIX_LOCANT = lazy_compile(
    rf"(?P<stem>(?:cyclo)?{_STEM}(?:ane?)?)-(?P<locants>\d(?:,\d)*)-(?P<suffix>{_GROUP}(?:oic acid)?)\Z"
)
_ORGANIC = lazy_compile(rf"(?=.*\d)(?=.*{_STEM})[\dA-Za-z(),' -]{{5,80}}")
_HYPHEN = lazy_compile(r"(?<=[a-z])[- ](?=[a-z])(?!acid)")
_HALO = "(?:chloro|bromo|fluoro|iodo)"
_WITHOUT_LOCANTS = lazy_compile(
    rf"(?:methyl|{_HALO})?(?:cyclo)?{_STEM}(?:ane?|ene?|yne?)?(?:{_GROUP}|oic acid)?", re.IGNORECASE
)
# Locants that can be no others: 2-butanone, 1-propene, 2-methylpropane, 1-chloroethane
_FORCED = lazy_compile(
    rf"\A1-(?=(?:meth|eth)(?:an|en|yn)(?:e|{_GROUP})\Z|{_HALO}(?:meth|eth)ane\Z|prop[ey]ne\Z"
    rf"|{_STEM}an(?:al|oic acid)\Z|(?:methyl|{_HALO})?cyclo{_STEM}ane\Z|cyclo{_STEM}(?:ene|an(?:ol|one|amine))\Z)"
    r"|\A2-(?=(?:prop|but)anone\Z|methyl(?:propane|butane|-?(?:1-)?propene)\Z)|(?<=\A2-methyl)-?1-(?=propene\Z)"
)
_CENTER = lazy_compile(r"\A\((?P<locant>\d)(?P<sign>[RSEZ])\)-")


class Concentrations(NamedTuple):
    """A product of powers of concentrations, ``k[A]^2[B]`` or ``[Ag^+]^2[Cl^-]``, and what it is, if that is said."""

    name: str
    factors: frozenset[tuple[str, Fraction]]


def concentrations(text: str) -> Concentrations | None:
    r"""``rate = k[A]^2[B]``, ``K_{sp} = [Ag^+]^2[CrO_4^{2-}]``, ``\frac{[NH_3]^2}{[N_2][H_2]^3}``."""
    if "[" not in text or len(text) > MAX_LENGTH:
        return None
    text = _DISPLAYED.sub(r"\\frac{", text)
    *names, product = (side.strip() for side in text.split("="))
    match = _NAME.fullmatch(names[0]) if names else None
    factors = _factors(product) if len(names) < 2 and (match or not names) else None
    if not factors:
        return None
    if not (match or "k" in factors or any(_SURE.search(factor) for factor in factors)):
        return None  # [ABC] may be an area
    name = _SIGNS.sub("", match[0]) if match else ""
    return Concentrations(_SAME_NAME.get(name, name), frozenset(item for item in factors.items() if item[1]))


def same_concentrations(gold: Concentrations, answer: Concentrations) -> bool:
    """Whether two products are equal, and not of different names."""
    return gold.factors == answer.factors and (not (gold.name and answer.name) or gold.name == answer.name)


def _factors(text: str) -> dict[str, Fraction] | None:
    """The exponent of each factor of a product or quotient; ``None`` if the text is anything else."""
    factors: dict[str, Fraction] = {}
    for part, sign in _parts(text):
        product = _product(part)
        if product is None or len(product) > MAX_FACTORS:
            return None
        for name, exponent in product:
            factors[name] = factors.get(name, Fraction(0)) + sign * exponent
    return factors


def _parts(text: str) -> list[tuple[str, int]]:
    """The numerator and the denominator, and what stands beside a fraction, each with the sign of its exponents."""
    before, fraction, rest = text.partition(_FRACTION)
    if fraction:
        top, rest = _braced(rest)
        bottom, rest = _braced(rest[1:]) if rest.startswith("{") else (_NOTHING, "")
        return [(before, 1), (top, 1), (bottom, -1), (rest, 1)]
    parts = re.split(r"/(?!\d)", text)  # not the slash of an exponent 1/2
    return [(part, sign) for part, sign in zip(parts, (1, -1), strict=False)] if len(parts) < 3 else [(_NOTHING, 1)]


def _braced(text: str) -> tuple[str, str]:
    """What stands before the brace that closes a group, and what stands behind it."""
    depth = 1
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            return text[:at], text[at + 1 :].lstrip()
    return text, ""


def _product(text: str) -> list[tuple[str, Fraction]] | None:
    """The factors of a product with their exponents; ``None`` if the text is no product."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1].strip()
    factors, at = [], 0
    while at < len(text):
        if text[at] == "[":
            end = _closing(text, at)
            species = text[at + 1 : end - 1].strip()
            name = f"[{_SIGNS.sub('', species)}]" if end and _SPECIES.fullmatch(species) else ""
        else:
            match = _CONSTANT.match(text, at)
            name, end = ("k", match.end()) if match else ("", at)
        if not name:
            return None
        power = _EXPONENT.match(text, end)
        factors.append((name, Fraction(power[1]) if power else Fraction(1)))
        between = _BETWEEN.match(text, power.end() if power else end)
        at = between.end() if between else end
    return factors


def _closing(text: str, at: int) -> int:
    """Where the bracket that opens at a place is closed, behind it; 0 if it is not."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"[": 1, "]": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return 0


def compound(text: str) -> str | None:
    """``2-butanol`` of ``butan-2-ol``, ``(R)-…`` of ``(2R)-butan-2-ol``, ``butanone`` of ``butan-2-one``."""
    if not _ORGANIC.fullmatch(text):
        return text.lower() if _WITHOUT_LOCANTS.fullmatch(text) else None
    text = re.sub(r"\s?-\s?", "-", text)
    descriptor, name = ("", text)
    if match := re.match(r"\((?:\d?[RSEZ](?:,\d?[RSEZ])*)\)-", text):
        descriptor, name = match[0], text[match.end() :]
    name = _HYPHEN.sub("", name[:1].lower() + name[1:])
    if suffix := _SUFFIX_LOCANT.search(name):
        name = f"{name[: suffix.start()]}-{suffix['locants']}-{suffix['stem']}{suffix['suffix']}".lstrip("-")
    name = _FORCED.sub("", name)
    center = _CENTER.match(descriptor)
    if center and re.findall(r"\d", name) == [center["locant"]]:
        descriptor = f"({center['sign']})-"
    return descriptor + name


def inorganic(text: str) -> str | None:
    """``K2Cr2O7`` of potassium dichromate, and of ``K2Cr2O7 (potassium dichromate)``."""
    if len(text) > MAX_LENGTH:
        return None
    if formula := formula_of(text) or ion_of(text) or symbol_of(text):
        return formula
    if match := _NAME_AND_FORMULA.fullmatch(text):
        one, other = match.groups()
        for name, formula in ((one, other), (other, one)):
            if formula_of(name) == _SIGNS.sub("", formula):
                return formula_of(name)
        return None
    is_formula = is_chemical(text) and _FORMULA.search(text) and not _PHASE.search(text)
    return _SIGNS.sub("", _SIGN_FIRST.sub(r"^\2\1", text)) if is_formula else None


def complex_ion(text: str) -> str | None:
    """``[CoCl(NH3)5]Cl2`` and ``[Co(NH3)5Cl]Cl2``: the metal, and its ligands in any order."""
    match = _COMPLEX.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    inner = _SIGNS.sub("", match["inner"])
    metal, *ligands = _LIGAND.findall(inner)
    if metal.rstrip("0123456789") not in NUMBERS or not re.search(r"[\d(]", inner):  # [ABC]
        return None
    if len(ligands) < 2 or "".join((metal, *ligands)) != inner:
        return None
    outer = [_SIGNS.sub("", match[side]) for side in ("before", "after")]
    return f"{outer[0]}[{metal}{''.join(sorted(ligands))}]{outer[1]}"


def bonds(text: str) -> str | None:
    """``3 sigma bonds and 2 pi bonds``, ``2 π and 3 σ bonds``: how many of each."""
    if len(text) > MAX_LENGTH or not _BONDS.fullmatch(text):
        return None
    counts = {name: count for count, name in _COUNTED_BONDS.findall(text)}
    return f"{counts.get('sigma') or counts.get('σ')} sigma, {counts.get('pi') or counts.get('π')} pi"


def species(text: str) -> str | None:
    """``Cl^-, Na^+`` of ``Na^+ and Cl^-``: two or more ions or compounds in any order."""
    parts = _AND.split(text.removeprefix("both ").removeprefix("Both ")) if len(text) <= MAX_LENGTH else []
    parts = [formula_of(part) or part for part in parts]
    if not 1 < len(parts) <= MAX_FACTORS or not all(_FORMULA.search(part) and is_chemical(part) for part in parts):
        return None
    return ", ".join(sorted(_PHASE.sub("", _SIGNS.sub("", _SIGN_FIRST.sub(r"^\2\1", part))) for part in parts))
