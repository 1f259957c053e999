"""Formulas, reactions, isotopes and electron configurations as codes: ``H_2O`` and ``H2O``, ``sp^3``, ``U-235``."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.elements import NUMBERS, SYMBOLS

_ELEMENT = (
    r"(?:A[cglmrstu]|B[aehikr]?|C[adeflmnorsu]?|D[bsy]|E[rsu]|F[elmr]?|G[ade]|H[efgos]?|I[nr]?|Kr?|L[airuv]|M[cdgnot]"
    r"|N[abdeiop]?|O[gs]?|P[abdmortu]?|R[abefghnu]|S[bcegimnr]?|T[abehilms]|U|V|W|Xe|Yb?|Z[nr])"
)
_COUNTED = rf"(?:{_ELEMENT}(?:_?\d{{1,3}})?)"
_CHEMICAL = lazy_compile(
    rf"(?:{_COUNTED}|\({_COUNTED}{{1,9}}\)(?:_?\d{{1,2}})?|\[{_COUNTED}{{1,9}}\](?:_?\d{{1,2}})?){{1,20}}"
    rf"(?:·\d{{0,2}}{_COUNTED}{{1,6}})?(?:\^?\d{{0,2}}[-+])?(?:\s?\((?:s|l|g|aq)\))?"
)
_REACTION = lazy_compile(r"<?-+>|<=+>")
_SIGN_FIRST = lazy_compile(r"(?:\^(?=[+-])|(?<=[A-Za-z\d)\]])(?=\+))([+-])(\d)\Z")  # Fe^+3
_HYDRATE = lazy_compile(r"\s?·\s?")
_ESCAPES = lazy_compile(r"\s?[\u2191\u2193]|\s?\\(?:up|down)arrow")  # of a gas or a solid
_BOND = lazy_compile(r"(?<=[A-Za-z\d)])-(?=[A-Z(])")  # CH_3-CH_2-OH
_CONDENSED = lazy_compile(r"\AC2H5(?!\d)")
_INNER_GROUP = lazy_compile(rf"(?<=[A-Za-z\d)])\({_COUNTED}{{1,9}}\)(?:_?\d{{1,2}})?(?=.*\])")
_SMILES = lazy_compile(r"(?:Cl|Br|[BCNOPSFIbcnops]|\[\w@+-]{1,9}\]|[=#()/@+.\d-]){6,}")
_COEFFICIENT = lazy_compile(r"(\d{0,3})\s?(.*)")
HEXADECIMAL = lazy_compile(
    r"#[0-9A-Fa-f]{3,8}|0[xX][0-9A-Fa-f]+|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
    r"|(?=[0-9A-Fa-f:]{0,40}(?:::|\d[A-Fa-f]|[A-Fa-f]\d))[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}(?:/\d{1,3})?"
)
_WORD = lazy_compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]?[a-z]{2,}|[A-Z]{3,})(?![A-Za-z0-9])")
_ORBITALS = lazy_compile(r"sp\^?\d?(?:d\^?\d?)?|(?:\[[A-Z][a-z]\] ?)?\d[spdf]\^?\d{1,2}(?: ?\d[spdf]\^?\d{1,2})*")
_HELIUM = "1s2"
_NEON = f"{_HELIUM} 2s2 2p6"
_ARGON = f"{_NEON} 3s2 3p6"
_KRYPTON = f"{_ARGON} 3d10 4s2 4p6"
_XENON = f"{_KRYPTON} 4d10 5s2 5p6"
_CORES = {
    "He": _HELIUM, "Ne": _NEON, "Ar": _ARGON, "Kr": _KRYPTON, "Xe": _XENON, "Rn": f"{_XENON} 4f14 5d10 6s2 6p6",
}  # fmt: skip
"""The subshells that a noble gas in brackets stands for."""
_SUBSHELL = lazy_compile(r"\[\w+\]|\d[spdf]\d{1,2}?(?=\s*\d[spdf]|\Z)")
_ISOTOPE = lazy_compile(
    r"(?:\{ ?\})? ?(?:\^?(?P<mass>\d{1,3}) ?(?:_ ?(?P<charge>\d{1,3}))?|_ ?(?P<first>\d{1,3}) ?\^ ?(?P<last>\d{1,3})) ?"
    r"(?P<symbol>[A-Z][a-z]?)|(?P<name>[A-Za-z]{1,13})[- ](?P<number>\d{1,3})"
)


def is_smiles(text: str) -> bool:
    """Whether a text may be a molecule with a ring as SMILES, where small letters are aromatic: ``c1ccccc1``."""
    if HEXADECIMAL.fullmatch(text):
        return False
    digits = re.findall(r"\d", text)
    return len(digits) > 1 and any(digits.count(digit) > 1 for digit in digits) and bool(_SMILES.fullmatch(text))


def has_words(text: str) -> bool:
    return _WORD.search(text) is not None and not is_chemical(text)


def is_chemical(text: str) -> bool:
    """Whether a text is a chemical formula."""
    if len(text) > 80:
        return False
    if "[" in text and "(" in text:  # [Cu(NH_3)_4]^2+
        text = _INNER_GROUP.sub("H", text)
    return _CHEMICAL.fullmatch(text) is not None


def formula(text: str) -> str | None:
    """``H_2O`` and ``H2O``; ``SO4^2-`` and ``SO42-``; also in reactions, whose sides may be in any order."""
    text = _HYDRATE.sub("·", text)
    arrow = _REACTION.search(text)
    if arrow is None:
        text = _BOND.sub("", text)
        text = _SIGN_FIRST.sub(r"^\2\1", text)
        return _CONDENSED.sub(r"CH3CH2", re.sub(r"[_^\s]", "", text)) if is_chemical(text) else None
    sides = [
        [_COEFFICIENT.fullmatch(part.strip()) for part in side.split(" + ")]
        for side in _REACTION.split(_ESCAPES.sub("", text))
    ]
    parts = [match for side in sides for match in side]
    if len(text) > 160 or not all(match and (is_chemical(match[2]) or match[2] == "e^-") for match in parts):
        return None
    sign = "<->" if arrow[0].startswith("<") else "->"
    return sign.join("+".join(sorted(re.sub(r"[_^\s]", "", match[0]) for match in side if match)) for side in sides)


def orbitals(text: str) -> str | None:
    """``sp^3`` and ``sp3``; ``[Ar] 3d^5 4s^1``, ``[Ar] 4s^1 3d^5`` and all of its subshells."""
    if not _ORBITALS.fullmatch(text):
        return None
    text = text.replace("^", "")
    shells = _SUBSHELL.findall(text)
    if not shells:
        return text.replace(" ", "")
    has_core = shells[0][0] == "["
    core = _CORES.get(shells[0][1:-1]) if has_core else ""
    if core is None:
        return None
    inner, outer = map(_subshell, core.split()), list(map(_subshell, shells[has_core:]))
    is_ordered = outer in (sorted(outer), sorted(outer, key=lambda shell: (shell[0] + shell[1], shell)))
    filled = sorted([*inner, *outer]) if is_ordered else [*inner, *outer]
    return " ".join(shell for *_, shell in filled)


def _subshell(text: str) -> tuple[int, int, str]:
    """A subshell with its two quantum numbers in front."""
    return int(text[0]), "spdf".index(text[1]), text


def isotope(text: str) -> str | None:
    """``U-235``, ``uranium-235``, ``^{235}U`` and ``^{235}_{92}U``, if the atomic number is that of the element."""
    match = _ISOTOPE.fullmatch(text)
    if match is None:
        return None
    element = match["symbol"] or match["name"]
    symbol = SYMBOLS.get(element.lower()) or (element if element in NUMBERS else None)
    charge = match["charge"] or match["first"]
    if symbol is None or (charge and int(charge) != NUMBERS[symbol]):
        return None
    return f"{symbol}-{match['mass'] or match['last'] or match['number']}"
