"""Systematic names of inorganic compounds: ``Na2SO4`` of sodium sulfate, ``Fe2O3`` of iron(III) oxide, ``N2O5``.

Only names that say what the formula is are read: a metal with one common charge or with its charge in brackets, or
prefixes that count (dinitrogen pentoxide).
"""

from __future__ import annotations

import re
from math import lcm

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.elements import NUMBERS, SYMBOLS
from ..vocabulary.number_words import roman_value

MAX_LENGTH = 60

_CHARGES = {
    1: "lithium sodium potassium rubidium caesium cesium silver hydrogen",
    2: "beryllium magnesium calcium strontium barium zinc cadmium radium",
    3: "aluminium aluminum scandium gallium",
}
_CATIONS = {name: (SYMBOLS[name], charge) for charge, names in _CHARGES.items() for name in names.split()}
_CATIONS["ammonium"] = ("NH4", 1)
_ANIONS = {
    "fluoride": ("F", 1), "chloride": ("Cl", 1), "bromide": ("Br", 1), "iodide": ("I", 1), "hydride": ("H", 1),
    "oxide": ("O", 2), "sulfide": ("S", 2), "selenide": ("Se", 2), "nitride": ("N", 3), "phosphide": ("P", 3),
    "hydroxide": ("OH", 1), "cyanide": ("CN", 1), "thiocyanate": ("SCN", 1), "peroxide": ("O2", 2),
    "nitrate": ("NO3", 1), "nitrite": ("NO2", 1), "sulfate": ("SO4", 2), "sulfite": ("SO3", 2),
    "hydrogen sulfate": ("HSO4", 1), "bisulfate": ("HSO4", 1), "hydrogen sulfite": ("HSO3", 1),
    "thiosulfate": ("S2O3", 2), "carbonate": ("CO3", 2), "hydrogen carbonate": ("HCO3", 1),
    "hydrogencarbonate": ("HCO3", 1), "bicarbonate": ("HCO3", 1), "oxalate": ("C2O4", 2),
    "phosphate": ("PO4", 3), "hydrogen phosphate": ("HPO4", 2), "dihydrogen phosphate": ("H2PO4", 1),
    "hypochlorite": ("ClO", 1), "chlorite": ("ClO2", 1), "chlorate": ("ClO3", 1), "perchlorate": ("ClO4", 1),
    "bromate": ("BrO3", 1), "iodate": ("IO3", 1), "permanganate": ("MnO4", 1), "chromate": ("CrO4", 2),
    "dichromate": ("Cr2O7", 2),
}  # fmt: skip
_OTHERS = {
    "water": "H2O", "ammonia": "NH3", "methane": "CH4", "hydrochloric acid": "HCl", "hydrobromic acid": "HBr",
    "hydroiodic acid": "HI", "hydrofluoric acid": "HF", "sulfuric acid": "H2SO4", "sulfurous acid": "H2SO3",
    "nitric acid": "HNO3", "nitrous acid": "HNO2", "phosphoric acid": "H3PO4", "carbonic acid": "H2CO3",
    "perchloric acid": "HClO4", "hydrogen gas": "H2", "oxygen gas": "O2", "nitrogen gas": "N2", "chlorine gas": "Cl2",
}  # fmt: skip
_COUNTS = {
    "mono": 1, "mon": 1, "di": 2, "tri": 3, "tetra": 4, "tetr": 4, "penta": 5, "pent": 5, "hexa": 6, "hex": 6,
    "hepta": 7, "hept": 7, "octa": 8, "oct": 8, "nona": 9, "deca": 10, "dec": 10,
}  # fmt: skip
_COUNT = "|".join(_COUNTS)
_CATION = lazy_compile(r"(?P<metal>[a-z]{3,14}) ?(?:\((?P<roman>VIII|VII|VI|V|IV|III|II|I)\))? (?P<anion>[a-z ]{5,20})")
_ION = lazy_compile(
    r"(?:the )?(?:(?P<metal>[a-z]{3,14}) ?\((?P<roman>VIII|VII|VI|V|IV|III|II|I)\)(?: ions?| cation)?"
    r"|(?P<ion>[a-z ]{4,20}?) (?:ions?|cation|anion))"
)
_COVALENT = lazy_compile(
    rf"(?P<first>(?:{_COUNT})?)(?P<element>[a-z]{{3,12}}) (?P<second>{_COUNT})(?P<anion>[a-z]{{5,8}})"
)
_HYDRATE = lazy_compile(rf" (?P<count>{_COUNT})hydrate\Z")
_ATOM = lazy_compile(r"[A-Z][a-z]?")
_CHARGE = lazy_compile(r"(?<=[a-z]) ?\((?=[IV])")


def formula_of(name: str) -> str | None:
    """The formula of a compound by its systematic name; ``None`` for any other text."""
    if len(name) > MAX_LENGTH or not name[:1].isalpha():
        return None
    name = _CHARGE.sub("(", (name[:1].lower() + name[1:]).replace("sulph", "sulf"))
    if hydrate := _HYDRATE.search(name):
        salt = formula_of(name[: hydrate.start()])
        count = _COUNTS[hydrate["count"]]
        return f"{salt}·{count if count > 1 else ''}H2O" if salt else None
    return _OTHERS.get(name) or _ionic(name) or _covalent(name)


def ion_of(name: str) -> str | None:
    """``Fe3+`` of iron(III), ``SO42-`` of sulfate ion; ``None`` for any other text."""
    match = _ION.fullmatch(name[:1].lower() + name[1:].replace("sulph", "sulf")) if len(name) <= MAX_LENGTH else None
    if match is None:
        return None
    if match["roman"]:
        symbol, charge, sign = SYMBOLS.get(match["metal"], ""), roman_value(match["roman"]), "+"
    elif anion := _ANIONS.get(match["ion"]):
        symbol, charge, sign = *anion, "-"
    else:
        symbol, charge, sign = *_CATIONS.get(match["ion"], ("", 0)), "+"
    return f"{symbol}{charge if charge > 1 else ''}{sign}" if symbol else None


def symbol_of(name: str) -> str | None:
    """``Cu`` of copper and of ``Cu``; ``None`` for other texts and for symbols of one letter, which may be choices."""
    symbol = SYMBOLS.get(name.lower(), name)
    return symbol if len(symbol) == 2 and symbol in NUMBERS else None


def _ionic(name: str) -> str | None:
    match = _CATION.fullmatch(name)
    anion = _ANIONS.get(match["anion"]) if match else None
    if match is None or anion is None:
        return None
    metal, roman = match["metal"], match["roman"]
    cation = (SYMBOLS.get(metal, ""), roman_value(roman)) if roman else _CATIONS.get(metal)
    if cation is None or not cation[0] or not cation[1]:
        return None
    total = lcm(cation[1], anion[1])
    return _times(cation[0], total // cation[1]) + _times(anion[0], total // anion[1])


def _covalent(name: str) -> str | None:
    match = _COVALENT.fullmatch(name)
    if match is None:
        return None
    anion = match["anion"]
    symbol = _ANIONS.get(anion, ("", 0))[0]
    element = SYMBOLS.get(match["element"])
    if element is None or not re.fullmatch(r"[A-Z][a-z]?", symbol):
        return None
    return _times(element, _COUNTS.get(match["first"], 1)) + _times(symbol, _COUNTS[match["second"]])


def _times(part: str, count: int) -> str:
    if count == 1:
        return part
    return f"{part}{count}" if _ATOM.fullmatch(part) else f"({part}){count}"
